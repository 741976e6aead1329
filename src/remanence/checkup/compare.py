"""Several networks side by side: what changed between checkpoints."""

from collections.abc import Sequence

from ..measure.horizon import shown
from .figures import FIGURES
from .record import Checkup


WIDE = 4  # networks beyond which each has a row of its own, with fewer figures


def comparison_table(found: Sequence[Checkup]) -> list[list[str]]:
    """A table with a row for each figure and a column for each network, heads first.

    With two networks a last column says how the second differs from the first. A run
    of many checkpoints has a row for each of them instead, and the chief figures.
    """
    columns = [checkup.figures for checkup in found]
    if len(found) > WIDE:
        chief = [name for name, figure in FIGURES.items() if figure.chief]
        rows = [
            [each.name, *(shown(column[name]) for name in chief)]
            for each, column in zip(found, columns, strict=True)
        ]
        return [["network", *chief], *rows]
    head = ["figure", *(checkup.name for checkup in found)]
    if len(found) == 2:
        head.append("change")
    rows = [head]
    for name in FIGURES:
        values = [column[name] for column in columns]
        row = [name, *(shown(value) for value in values)]
        if len(found) == 2:
            row.append(_change(*values))
        rows.append(row)
    return rows


def _change(first: float | None, second: float | None) -> str:
    if first is None or second is None:
        return ""
    if first == second:
        return "same"
    difference = second - first
    return "" if difference != difference else f"{difference:+.3g}"
