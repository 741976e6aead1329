"""Points, bands, bars and patches of a matplotlib axes as plotly traces."""

from typing import Any

import matplotlib.collections as collections
import matplotlib.patches as patches
import numpy as np

from .heat import mesh
from .ink import colour, in_data, is_a, name_of, numbers, PIXELS, Unfaithful


def collection(artist: Any, axes: Any) -> list[dict]:
    """Points, segments or filled areas that were drawn in one call."""
    if is_a(artist, collections.QuadMesh):
        return [mesh(artist)]
    if is_a(artist, collections.PathCollection):
        points = artist.get_offsets()
        if not len(points):
            return []
        sizes = PIXELS * np.sqrt(np.broadcast_to(artist.get_sizes(), len(points)))
        faces = artist.get_facecolors()
        edges = artist.get_edgecolors()
        inks = faces if len(faces) else edges
        ink = [colour(c) for c in inks] if len(inks) == len(points) else colour(inks[0])
        return [
            {
                "type": "scatter",
                "mode": "markers",
                "x": numbers(points[:, 0]),
                "y": numbers(points[:, 1]),
                "name": name_of(artist),
                "marker": {"color": ink, "size": numbers(sizes), "opacity": 1},
            }
        ]
    if not all(in_data(artist, axes)):
        raise Unfaithful
    if is_a(artist, collections.LineCollection):
        inks = artist.get_colors()
        if artist.get_array() is not None or len({tuple(c) for c in inks}) > 1:
            raise Unfaithful
        xs: list = []
        ys: list = []
        for segment in artist.get_segments():
            xs += [*numbers(segment[:, 0]), None]
            ys += [*numbers(segment[:, 1]), None]
        width = PIXELS * float(np.max(artist.get_linewidths()))
        line = {"color": colour(inks[0]), "width": width}
        return [
            {
                "type": "scatter",
                "mode": "lines",
                "x": xs,
                "y": ys,
                "line": line,
                "name": name_of(artist),
                "hoverinfo": "skip",
            }
        ]
    if is_a(artist, collections.PolyCollection) and artist.get_array() is None:
        faces = artist.get_facecolors()
        if len(faces) != 1:
            raise Unfaithful
        return [
            _area(path.vertices, colour(faces[0]), name_of(artist) if n == 0 else "")
            for n, path in enumerate(artist.get_paths())
        ]
    raise Unfaithful


def _area(corners: Any, ink: str, name: str, hover: str | None = None) -> dict:
    trace = {
        "type": "scatter",
        "mode": "lines",
        "fill": "toself",
        "x": numbers(corners[:, 0]),
        "y": numbers(corners[:, 1]),
        "fillcolor": ink,
        "line": {"width": 0, "color": ink},
        "name": name,
        "hoverinfo": "skip",
    }
    return trace | (
        {"hoverinfo": "text", "text": hover, "hoveron": "fills"} if hover else {}
    )


def patch(drawn: Any, axes: Any, x: str, y: str, traces: list, shapes: list) -> None:
    """A rectangle across the panel as a shape, any other patch as an area."""
    if is_a(drawn, patches.FancyArrowPatch) or drawn.get_hatch():
        raise Unfaithful
    in_x, in_y = in_data(drawn, axes)
    if is_a(drawn, patches.Rectangle) and not (in_x and in_y):
        corners = drawn.get_corners()
        shapes.append(
            {
                "type": "rect",
                "xref": x if in_x else f"{x} domain",
                "yref": y if in_y else f"{y} domain",
                "x0": float(corners[0][0]),
                "x1": float(corners[2][0]),
                "y0": float(corners[0][1]),
                "y1": float(corners[2][1]),
                "fillcolor": colour(drawn.get_facecolor()),
                "line": {"width": 0},
                "layer": "below",
            }
        )
        return
    to_data = drawn.get_transform() - axes.transData
    polygons = drawn.get_path().transformed(to_data).to_polygons(closed_only=False)
    for n, corners in enumerate(polygons):
        area = _area(
            corners, colour(drawn.get_facecolor()), name_of(drawn) if n == 0 else ""
        )
        if not drawn.get_fill():
            area |= {"fill": "none"}
        area["line"] = {
            "width": float(drawn.get_linewidth()) if drawn.get_edgecolor()[3] else 0,
            "color": colour(drawn.get_edgecolor()),
        }
        traces.append(area)


def bars(axes: Any) -> list[dict]:
    """Bars of one call are one trace, so that the legend moves them together."""
    traces = []
    for box in axes.containers:
        members = list(getattr(box, "patches", ()))
        if not members:
            continue
        inks = {member.get_facecolor() for member in members}
        if any(member.get_hatch() for member in members) or len(inks) > 1:
            for member in members:
                patch(member, axes, "x", "y", traces, [])
            continue
        xs: list = []
        ys: list = []
        for member in members:
            corners = np.vstack([member.get_corners(), member.get_corners()[:1]])
            xs += [*numbers(corners[:, 0]), None]
            ys += [*numbers(corners[:, 1]), None]
        area = _area(np.zeros((0, 2)), colour(next(iter(inks))), name_of(box))
        traces.append(area | {"x": xs, "y": ys, "hoverinfo": "x+y"})
    return traces
