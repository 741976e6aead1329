"""Several networks side by side: what changed between checkpoints."""

from collections.abc import Sequence

from ..measure.horizon import shown
from .figures import FIGURES, Found


WIDE = 4  # networks beyond which each has a row of its own, with fewer figures


def comparison_table(found: Sequence[Found]) -> list[list[str]]:
    """A table with a row for each figure and a column for each network, heads first.

    With two networks a last column says how the second differs from the first. A run
    of many checkpoints has a row for each of them instead, and the chief figures.
    """
    columns = [checkup.figures for checkup in found]
    if len(found) > WIDE:
        chief = [name for name, figure in FIGURES.items() if figure.chief]
        pairs = zip(found, columns, strict=True)
        rows = [[each.name, *(shown(column[name]) for name in chief)] for each, column in pairs]
        return [["network", *chief], *rows]
    two = len(found) == 2
    rows = [["figure", *(checkup.name for checkup in found), *(["change"] if two else [])]]
    for name in FIGURES:
        values = [column[name] for column in columns]
        rows.append([name, *map(shown, values), *([_change(*values)] if two else [])])
    return rows


def _change(first: float | None, second: float | None) -> str:
    if first is None or second is None or first == second:
        return "same" if first is not None and first == second else ""
    difference = second - first
    return "" if difference != difference else f"{difference:+.3g}"
