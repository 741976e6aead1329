"""Tables and documents on stdout; whatever came from outside is escaped."""

import collections
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._escape import printable


COLOURS = {"holds": "green", "differs": "yellow", "refuted": "red", "open": "dim"}
MARKS = {"holds": "✓", "differs": "≠", "refuted": "✗", "open": "?"}


def console(stream: Any = None) -> Console:
    """A console on stdout, or on another stream; wide enough where nobody looks."""
    stream = stream or sys.stdout
    width = None if stream.isatty() else 110
    return Console(file=stream, width=width, highlight=False, soft_wrap=False)


def visible(text: str, style: str = "") -> Text:
    """A cell or line for the console, from any text: no markup, no control characters."""
    return Text(printable(text), style)


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    sys.stdout.write(printable(text, keep="\n") + "\n")


def claims_table(title: str, claims: Sequence[Any]) -> Table:
    """A row a claim; everything from outside goes in as plain text."""
    table = Table(title=visible(title), title_justify="left", expand=True, box=None)
    for name, ratio in {"claim": None, "statement": 5, "published": 3, "measured": 3}.items():
        table.add_column(name, ratio=ratio, overflow="fold", no_wrap=False)
    table.add_column("verdict", no_wrap=True)
    for claim in claims:
        words = visible(f"{MARKS[claim.verdict]} {claim.label}", COLOURS[claim.verdict])
        cells = (claim.id, claim.statement, claim.published, claim.measured)
        table.add_row(*(visible(_untexed(cell)) for cell in cells), words)
    return table


def summary_lines(
    claims: Mapping[str, Sequence[Any]], seconds: Mapping[str, float | None]
) -> list[Text]:
    """One screen: a line a study, their sum, and the refuted claims a line each.

    Of one study every claim has its line.
    """
    tallies = {
        name: collections.Counter(claim.verdict for claim in rows) for name, rows in claims.items()
    }
    tallies["all"] = sum(tallies.values(), collections.Counter())
    lines = []
    for name, tally in tallies.items():
        spent = seconds.get(name)
        time = "" if spent is None else f"{spent:.0f} s"
        line = Text(f"{name:<24}{time:>7}  ")
        for verdict, mark in MARKS.items():
            line.append(f"{mark} {tally[verdict]:>2} {verdict:<9}", COLOURS[verdict])
        lines.append(line)
    if len(claims) < 2:
        lines.pop()  # the sum of one
    shown = [
        claim
        for rows in claims.values()
        for claim in rows
        if len(claims) < 2 or claim.verdict == "refuted"
    ]
    for claim in shown:
        head = f"{MARKS[claim.verdict]} {claim.id:<16}"
        what = claim.statement if len(claims) > 1 else claim.measured
        line = Text(head, COLOURS[claim.verdict])
        line.append_text(visible(_untexed(what)))
        line.truncate(110, overflow="ellipsis")
        lines.append(line)
    return lines


def _untexed(text: str) -> str:
    """A sentence for the terminal: equations without their dollars."""
    return text.replace("$", "")
