"""The checkup as one HTML page that opens from disk: verdict, pictures, every figure."""

import base64
import pathlib
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..measure.horizon import shown
from ..report import Figure
from ..report.figures import draw_figure, DrawnFigure
from ..report.html import render
from ..report.style import PALETTES, Theme
from . import pictures
from .figures import comparison_table, Found, WIDE
from .headline import headline, large_numbers, TITLE


TEMPLATES = pathlib.Path(__file__).parent / "templates"
MEMORY = (pictures.windows, pictures.gradients, pictures.spectrum)
"""How memory fades, all networks in the same axes."""
NETWORK = (pictures.units, pictures.eigenvalues, pictures.fixed_points)
"""What one network looks like."""
LONGEST = 5  # units of each layer that the table names


def checkup_page(found: Sequence[Found]) -> str:
    """One page for one network, or for several side by side with the last one's figures.

    How memory fades is drawn for all of them together, states and weights for each if
    they are few.
    """
    last = found[-1]
    few = found if len(found) <= WIDE else found[-1:]
    return render(
        "checkup.html",
        folder=TEMPLATES,
        title=f"{last.name}{TITLE}",
        home="#main",
        found=last,
        headline=[f"{part[:1].upper()}{part[1:]}." for part in headline(last)],
        numbers=large_numbers(last),
        units=unit_table(last),
        comparison=comparison_table(found) if len(found) > 1 else None,
        memory=drawn_pictures(make(found) for make in MEMORY),
        cost=last.horizon.replay.cost,
        costs=_costs(last),
        networks=[
            (each.name, drawn_pictures((m(each) for m in NETWORK), f"-{number}" if number else ""))
            for number, each in enumerate(few)
        ],
    )


def unit_table(found: Found) -> list[tuple[str, ...]]:
    """The units that hold on for longest, layer by layer."""
    rows = []
    for layer in found.units:
        times, median = layer.timescales, shown(np.median(layer.timescales))
        of = lambda i, t=times, e=layer.stderr: f"{shown(t[i])} ± {shown(e[i])}"
        rows += [(str(layer.layer), str(i), of(i), median) for i in layer.longest[:LONGEST]]
    return rows


def _costs(found: Found) -> list[tuple[str, ...]]:
    """What windows cost in nats, where there is something to predict."""
    cost = found.horizon.replay.cost
    if cost is None:
        return []
    columns = zip(cost.windows, cost.loss, cost.excess, cost.accuracy, strict=True)
    rows = [(f"{k:,}", f"{a:.4g}", f"{b:+.2g}", f"{c:.1%}") for k, a, b, c in columns]
    return [*rows, ("all", f"{cost.full_loss:.4g}", "", f"{cost.full_accuracy:.1%}")]


def drawn_pictures(figures: Iterable[Figure | None], suffix: str = "") -> list[dict[str, Any]]:
    """Pictures in both themes; the suffix makes their addresses unique in a page."""
    found = []
    for figure in (each for each in figures if each is not None):
        with warnings.catch_warnings():
            # A name in letters that the font has not stands in full in the table above.
            warnings.filterwarnings("ignore", "Glyph .* missing from")
            drawn = draw_figure(figure, png=False)
        words = {"id": f"{figure.name}{suffix}", "title": figure.title, "caption": figure.caption}
        stills = {theme: _address(drawn, theme) for theme in PALETTES}
        found.append(words | stills | {"width": drawn.width})
    return found


def _address(drawn: DrawnFigure, theme: Theme) -> str:
    """A picture as a data address: SVG, or PNG where that would be heavy."""
    heavy = theme in drawn.png
    kind, content = ("png", drawn.png[theme]) if heavy else ("svg+xml", drawn.svg[theme])
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
