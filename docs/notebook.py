"""The tour as a notebook: its code cells are run in order, their outputs kept.

    python docs/notebook.py docs/tour.ipynb     run it and write what came out

A test runs the same cells and compares, so that the notebook never shows what the
library does not say. Text is compared, pictures are only drawn.
"""

import ast
import base64
import contextlib
import io
import json
import pathlib
import sys
from typing import Any


def outputs(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What one cell says: its printed lines, then its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        value = (
            None
            if last is None
            else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        )
    said = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        said.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        said.append({"output_type": "display_data", "data": _shown(value), "metadata": {}})
    return said


def _shown(value: Any) -> dict[str, Any]:
    if hasattr(value, "savefig"):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=60, metadata={"Software": None})
        return {"image/png": base64.b64encode(picture.getvalue()).decode()}
    return {"text/plain": repr(value).splitlines(keepends=True)}


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of a fresh run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        fresh = dict(cell, id=f"cell-{number}")
        if cell["cell_type"] == "code":
            fresh["outputs"] = outputs("".join(cell["source"]), names)
        cells.append(fresh)
    return notebook | {"cells": cells}


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("agg")
    path = pathlib.Path(sys.argv[1])
    made = executed(json.loads(path.read_text(encoding="utf-8")))
    path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
