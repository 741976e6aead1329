"""`remanence show`: a stored result, what made it, and the command that redoes it."""

import shlex
import sys
from pathlib import Path
from typing import Any

from typer import Argument, Option

from .app import say


def show(
    result: str = Argument("all", metavar="[RESULT]", help="A study, its folder, or all."),
    out: Path = Option("results", help="The folder that holds the results."),
    as_json: bool = Option(False, "--json", help="One JSON document on stdout, no table."),
) -> None:
    """The claims of stored results, what made them, and the command to redo them.

    Every file is checked against its digest first; a damaged result is named, never
    shown. Every claim is judged again from its stored evidence.
    """
    from ..subjects import stored_result, STUDIES
    from .table import print_json

    if result == "all":
        folders = [out / name for name in STUDIES]
    elif result in STUDIES:
        folders = [out / result]
    elif Path(result).is_dir():
        folders = [Path(result)]
    else:
        raise ValueError(
            f"no study is called {result!r}, and no folder; there are {', '.join(STUDIES)}, and all"
        )
    found = [kept for folder in folders if (kept := stored_result(folder)) is not None]
    if not found:
        what, study = (f" of {result}", result) if result in STUDIES else ("", "all")
        raise FileNotFoundError(
            f"{out} holds no result{what}; remanence reproduce {study} makes one"
        )
    for note in (note for kept in found for note in kept.notes):
        say(note)
    if as_json:
        studies = [kept.document for kept in found]
        made = {kept.study: kept.provenance for kept in found}
        print_json({"studies": studies, "provenance": made, "failed": {}})
        return
    for kept in found:
        _print(kept)


def _print(kept: Any) -> None:
    from .._escape import printable
    from ..report.provenance import provenance_in_words
    from .table import claims_table, console, plain_table

    title = kept.document.get("title", "")
    heading = f"{kept.document.get('document', '')} · {title} ({kept.profile}, seed {kept.seed})"
    console().print(claims_table(heading, kept.claims, console().width))
    known = provenance_in_words(kept.provenance)
    known.pop("command", None)  # it is printed below
    console().print(plain_table([("what", "value"), *known.items()], "Where it comes from"))
    # On one line however long, so that it can be copied.
    sys.stdout.write(f"\nTo redo it:\n{printable(_redo(kept))}\n\n")


def _redo(kept: Any) -> str:
    """The command as a shell reads it, also for a folder called `my runs`, or `.`."""
    command = kept.provenance.get("command") or kept.claims[0].command if kept.claims else ""
    if kept.claims_alone:
        return command
    folder = kept.folder if kept.folder.name == kept.study else kept.folder.resolve()
    return f"{command} {shlex.join(['--out', str(folder.parent), '--again'])}"
