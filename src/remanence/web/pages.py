"""The lab's own two pages: the tabs, and the list of questions."""

import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..report.html import render
from ..subjects import STUDIES


TEMPLATES = pathlib.Path(__file__).parent / "templates"


TABS = ("memorize", "dynamics", "windows", "languages", "checkup", "studies")


def lab_page(
    tabs: Sequence[str] = TABS, files: str = "/static/", answers: Mapping[str, Any] | None = None
) -> str:
    """The page with its tabs, one shown at a time.

    With `answers` (what `memories.frontier` gives, by string) it needs no server.
    """
    return render(
        "lab.html",
        folder=TEMPLATES,
        title="remanence: the lab",
        home="/",
        studies=list(STUDIES),
        tabs=tabs,
        files=files,
        answers=answers,
    )


def docs_page(schema: dict[str, Any]) -> str:
    """The OpenAPI document in words; the document itself is at /openapi.json."""
    return render(
        "questions.html",
        folder=TEMPLATES,
        title="remanence: the lab's questions",
        home="/",
        questions=list(_questions(schema)),
    )


def _questions(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path, verbs in schema["paths"].items():
        for verb, said in verbs.items():
            given = [(p["name"], p["in"]) for p in said.get("parameters", ())]
            body = said.get("requestBody", {}).get("content", {})
            form = body.get("application/json", {}).get("schema", {})
            if "$ref" in form:
                name = form["$ref"].rsplit("/", 1)[-1]
                fields = schema["components"]["schemas"][name]["properties"]
                given += [(field, "body") for field in fields]
            yield {
                "verb": verb.upper(),
                "path": path,
                "what": said.get("description", ""),
                "given": given,
                "answers": sorted(said["responses"]),
            }
