"""`remanence show`: the claims that are already in a results folder."""

import json
import pathlib
import sys
from typing import Annotated

import typer


def show(
    study: Annotated[
        str, typer.Argument(metavar="[STUDY]", help="A study's name, or all.")
    ] = "all",
    out: Annotated[
        pathlib.Path, typer.Option(help="The folder that holds the results.")
    ] = pathlib.Path("results"),
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on stdout, no table.")
    ] = False,
) -> None:
    """The claims that are already in a results folder, checked before they are shown."""
    from ..report import stored
    from ..studies import STUDIES
    from .table import claims_table, console

    if study != "all" and study not in STUDIES:
        raise ValueError(
            f"no study is called {study!r}; there are {', '.join(STUDIES)}, and all"
        )
    names = list(STUDIES) if study == "all" else [study]
    found = [result for name in names if (result := stored(out / name)) is not None]
    if not found:
        what = "no result" if study == "all" else f"no result of {study}"
        raise FileNotFoundError(
            f"{out} holds {what}; remanence reproduce {study} makes one"
        )
    if as_json:
        document = {
            "studies": [dict(result.document) for result in found],
            "failed": {},
        }
        sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        return
    for result in found:
        title = result.document.get("title", "")
        heading = f"{result.document.get('document', '')} · {title} ({result.profile}, seed {result.seed})"
        console().print(claims_table(heading, result.claims))
        console().print()
