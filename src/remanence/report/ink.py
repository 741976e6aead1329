"""Numbers, colours and names of matplotlib artists, as plotly wants them."""

from typing import Any

import numpy as np
from matplotlib.colors import to_rgba

from .untex import untex


class Unfaithful(Exception):
    """Something was drawn that has no exact counterpart."""


PIXELS = 96 / 72
"""matplotlib measures in points, plotly in pixels."""

DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
SYMBOLS = {
    "o": "circle",
    ".": "circle",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "D": "diamond",
    "d": "diamond-tall",
    "x": "x-thin",
    "+": "cross-thin",
    "*": "star",
    "|": "line-ns",
    "_": "line-ew",
    "P": "cross",
    "X": "x",
}


def numbers(values: Any) -> list[float | None]:
    """Five digits are more than a screen shows; gaps stay gaps."""
    return [
        float(f"{value:.6g}") if np.isfinite(value) else None
        for value in np.ma.filled(np.ma.asarray(values, dtype=float), np.nan).ravel()
    ]


def colour(value: Any, opacity: float | None = None) -> str:
    """A CSS colour; `opacity` multiplies that of the colour."""
    r, g, b, a = to_rgba(value)
    if opacity is not None:
        a = opacity
    return f"rgba({round(r * 255)},{round(g * 255)},{round(b * 255)},{a:.3g})"


def colour_scale(cmap: Any) -> list[list[Any]]:
    """A matplotlib colour map as plotly's stops."""
    return [[n / 32, colour(cmap(n / 32))] for n in range(33)]


def is_a(artist: Any, kind: type) -> bool:
    """`isinstance` that leaves the artist untyped: matplotlib's stubs know too little."""
    return isinstance(artist, kind)


def name_of(artist: Any) -> str:
    """Its name in the legend; empty if it has none."""
    label = str(artist.get_label())
    return "" if label.startswith("_") else untex(label)


def in_data(artist: Any, axes: Any) -> tuple[bool, bool]:
    """Whether x and y are measured in data, or in parts of the panel."""
    return artist.get_transform().contains_branch_seperately(axes.transData)
