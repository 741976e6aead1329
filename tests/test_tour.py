"""The notebook of the tour, run in order: it shows what the library says."""

import importlib.util
import json
import pathlib

import pytest


DOCS = pathlib.Path(__file__).parents[1] / "docs"
TOUR = DOCS / "tour.ipynb"


@pytest.fixture(scope="module")
def notebook():
    where = importlib.util.spec_from_file_location("notebook", DOCS / "notebook.py")
    module = importlib.util.module_from_spec(where)
    where.loader.exec_module(module)
    return module


def texts(tour):
    """Every cell's words; of a picture only that there is one."""
    return [
        [
            output.get("text") or output["data"].get("text/plain", "a picture")
            for output in cell["outputs"]
        ]
        for cell in tour["cells"]
        if cell["cell_type"] == "code"
    ]


def test_the_tour_shows_what_comes_out(notebook):
    tour = json.loads(TOUR.read_text(encoding="utf-8"))
    assert texts(notebook.executed(tour)) == texts(tour)
    assert sum(map(len, texts(tour))) >= 8 and TOUR.stat().st_size < 60_000


def test_another_answer_would_be_seen(notebook):
    cell = {"cell_type": "code", "source": ["print(1)\n", "2 + 2"], "outputs": []}
    ran = notebook.executed({"cells": [cell]})
    assert texts(ran) == [[["1\n"], ["4"]]] and texts(ran) != texts({"cells": [cell]})
