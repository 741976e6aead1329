"""The lab's own two pages: the tabs, and the list of questions."""

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from ..report.html import render
from ..subjects import STUDIES


TEMPLATES = pathlib.Path(__file__).parent / "templates"


TABS = ("memorize", "dynamics", "windows", "languages", "checkup", "studies")


def lab_page(
    tabs: Sequence[str] = TABS, files: str = "/static/", answers: Mapping[str, Any] | None = None
) -> str:
    """The page with its tabs; with `answers` (of `answers.frontier`, by string) it needs no server."""
    shown = {"tabs": tabs, "files": files, "answers": answers, "studies": list(STUDIES)}
    title = "remanence: the lab"
    return render("lab.html", folder=TEMPLATES, title=title, home="/", **shown)


def docs_page(schema: Mapping[str, Any]) -> str:
    """The OpenAPI document in words; the document itself is at /openapi.json."""
    title = "remanence: the lab's questions"
    return render("questions.html", folder=TEMPLATES, title=title, home="/", schema=schema)
