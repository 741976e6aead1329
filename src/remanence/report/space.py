"""Lines and points of a panel in three dimensions, as a plotly scene that turns."""

from typing import Any

import numpy as np
from mpl_toolkits.mplot3d.art3d import Line3D, Path3DCollection

from .ink import colour, is_a, name_of, numbers, PIXELS, SYMBOLS, Unfaithful
from .untex import untex


DISTANCE = 2.6
"""From which the scene is seen, in its own widths."""


def scene(axes: Any, domain: dict[str, Any], palette: Any) -> dict[str, Any]:
    """The scene's own layout: its axes, and where it is seen from as drawn."""
    elevation, turn = np.radians([axes.elev, axes.azim])
    eye = DISTANCE * np.asarray(
        [
            np.cos(elevation) * np.cos(turn),
            np.cos(elevation) * np.sin(turn),
            np.sin(elevation),
        ]
    )
    sides = {
        f"{letter}axis": {
            "title": {"text": untex(getattr(axes, f"get_{letter}label")())},
            "range": [float(end) for end in getattr(axes, f"get_{letter}lim")()],
            "color": palette.ink,
            "gridcolor": palette.line,
            "backgroundcolor": palette.paper,
            "showbackground": True,
            "nticks": 5,
            "tickfont": {"size": 9},
        }
        for letter in "xyz"
    }
    return {
        **sides,
        "domain": domain,
        "aspectmode": "manual",
        "aspectratio": {"x": 1, "y": 1, "z": 0.75},
        "camera": {"eye": dict(zip("xyz", map(float, eye), strict=True))},
    }


def traces(axes: Any, name: str) -> list[dict[str, Any]]:
    """Every line and point of the panel."""
    made = []
    for artist in axes.lines:
        if not is_a(artist, Line3D):
            raise Unfaithful
        made.append(_line(artist))
    for artist in axes.collections:
        if not is_a(artist, Path3DCollection):
            raise Unfaithful
        made.append(_points(artist))
    if axes.patches or axes.images or axes.texts or axes.get_legend() is not None:
        raise Unfaithful
    return [trace | {"scene": name, "showlegend": False} for trace in made]


def _line(line: Any) -> dict[str, Any]:
    style, marker = line.get_linestyle(), line.get_marker()
    if style != "-" or marker not in ("None", "", " ", None):
        raise Unfaithful
    return _at(line.get_data_3d()) | {
        "mode": "lines",
        "name": name_of(line),
        "line": {
            "color": colour(line.get_color(), line.get_alpha()),
            "width": 2 * PIXELS * float(line.get_linewidth()),
        },
    }


def _points(points: Any) -> dict[str, Any]:
    places = points._offsets3d  # matplotlib has no other way to ask
    count, inks = len(np.atleast_1d(places[0])), points.get_facecolors()
    ink = [colour(c) for c in inks] if len(inks) == count else colour(inks[0])
    sizes = PIXELS * np.sqrt(np.broadcast_to(points.get_sizes(), count))
    return _at(places) | {
        "mode": "markers",
        "name": name_of(points),
        "marker": {"color": ink, "size": numbers(sizes), "symbol": SYMBOLS["o"]},
    }


def _at(places: Any) -> dict[str, Any]:
    drawn = {l: numbers(v) for l, v in zip("xyz", places, strict=True)}
    return {"type": "scatter3d", **drawn}
