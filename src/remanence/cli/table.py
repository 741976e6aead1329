"""Tables and documents on stdout; whatever came from outside is escaped."""

import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._escape import printable
from ..report import json_bytes, MARKS


COLOURS = {"holds": "green", "differs": "yellow", "refuted": "red", "open": "dim"}


def console() -> Console:
    """A console on stdout, wide enough where nobody looks."""
    width = None if sys.stdout.isatty() else 110
    return Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)


def visible(text: str, style: str = "") -> Text:
    """A cell or line for the console, from any text: no markup, no control characters."""
    return Text(printable(text), style)


def plain_table(rows: Sequence[Sequence[str]], title: str = "") -> Table:
    """Rows of words, the head first; where it is narrow they are folded, never cut."""
    head, *rest = rows
    table = Table(box=None, padding=(0, 1, 0, 0), title=title, title_justify="left")
    for name in head:
        table.add_column(visible(name), overflow="fold")
    for row in rest:
        table.add_row(*map(visible, row))
    return table


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(printable(json_bytes(document).decode(), keep="\n"))


NARROW = 100  # columns below which the fields of a claim stand below each other


def claims_table(title: str, claims: Sequence[Any], width: int = 110) -> Table:
    """A row a claim; everything from outside goes in as plain text."""
    table = Table(title=visible(title), title_justify="left", expand=True, box=None)
    names = {"claim": None, "statement": 5, "published": 3, "measured": 3}
    for name, ratio in names.items() if width >= NARROW else [("claim", None), ("", 1)]:
        table.add_column(name, ratio=ratio, overflow="fold", no_wrap=False)
    table.add_column("verdict", no_wrap=True)
    for claim in claims:
        verdict = visible(f"{MARKS[claim.verdict]} {claim.label}", COLOURS[claim.verdict])
        words = [visible(_untexed(getattr(claim, name))) for name in list(names)[1:]]
        if width < NARROW:
            labels = ("", "published: ", "measured: ")
            lines = [Text(label) + word for label, word in zip(labels, words, strict=True)]
            words = [Text("\n").join(lines)]
        table.add_row(visible(claim.id), *words, verdict)
    return table


def summary_lines(
    claims: Mapping[str, Sequence[Any]], seconds: Mapping[str, float], width: int
) -> list[Text]:
    """One screen: a line a study, their sum, and a line a refuted claim (any of one).

    Where it is narrow a line says what the marks mean.
    """
    alone, every = len(claims) == 1, [claim for rows in claims.values() for claim in rows]
    lines = []
    for name, rows in [*claims.items(), *([] if alone else [("all", every)])]:
        spent = f"{seconds[name]:.0f} s" if name in seconds else ""
        line, verdicts = Text(f"{name:<26}{spent:>6}  "), [claim.verdict for claim in rows]
        for verdict, mark in MARKS.items():
            word = "" if width < NARROW else f"{verdict:<9}"
            line.append(f"{mark} {verdicts.count(verdict):>2} {word}", COLOURS[verdict])
        lines.append(line)
    if width < NARROW:
        lines.append(Text(", ".join(f"{mark} {verdict}" for verdict, mark in MARKS.items())))
    for claim in every if alone else [claim for claim in every if claim.verdict == "refuted"]:
        what = printable(_untexed(claim.measured if alone else claim.statement))
        # At words, so that no number is cut.
        short = textwrap.shorten(what, max(20, width - 19), placeholder=" …")
        line = Text(f"{MARKS[claim.verdict]} {claim.id:<16}", COLOURS[claim.verdict])
        lines.append(line.append_text(visible(short)))
    return lines


def studies_named(word: str) -> list[str]:
    """The studies that a word stands for."""
    from ..subjects import STUDIES

    if word != "all" and word not in STUDIES:
        raise ValueError(f"no study is called {word!r}; there are {', '.join(STUDIES)}, and all")
    return list(STUDIES) if word == "all" else [word]


def _untexed(text: str) -> str:
    """A sentence for the terminal: equations without their dollars."""
    return text.replace("$", "")
