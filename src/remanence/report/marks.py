"""Lines, points, bands, bars and images of a matplotlib axes as plotly traces."""

from typing import Any

import matplotlib.collections as collections
import matplotlib.image
import matplotlib.patches as patches
import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.text import Annotation

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


def _is(artist: Any, kind: type) -> bool:
    """`isinstance` that leaves the artist untyped: matplotlib's stubs know too little."""
    return isinstance(artist, kind)


def _name(artist: Any) -> str:
    label = str(artist.get_label())
    return "" if label.startswith("_") else untex(label)


def _in_data(artist: Any, axes: Any) -> tuple[bool, bool]:
    return artist.get_transform().contains_branch_seperately(axes.transData)


def marks(axes: Any, x: str, y: str) -> tuple[list[dict], list[dict], list[dict]]:
    """The traces, shapes and annotations of one axes."""
    traces: list[dict] = []
    shapes: list[dict] = []
    for box in axes.containers:  # an error bar keeps its name on the group
        lines = getattr(box, "lines", None)
        if lines:
            (lines[0] or lines[2][0]).set_label(box.get_label())
    grouped = {bar for box in axes.containers for bar in getattr(box, "patches", ())}
    for artist in sorted(axes.get_children(), key=lambda a: a.get_zorder()):
        if not artist.get_visible() or artist is axes.patch or artist in grouped:
            continue
        if artist in axes.lines:
            _line(artist, axes, x, y, traces, shapes)
        elif artist in axes.collections:
            traces += _collection(artist, axes)
        elif artist in axes.images:
            traces.append(_image(artist))
        elif artist in axes.patches:
            _patch(artist, axes, x, y, traces, shapes)
        elif artist in axes.artists or artist in axes.tables:
            raise Unfaithful
    traces += _bars(axes)
    for trace in traces:
        trace |= {"xaxis": x, "yaxis": y}
    return (
        traces,
        shapes,
        [_text(text, axes, x, y) for text in axes.texts if text.get_text()],
    )


def _line(line: Any, axes: Any, x: str, y: str, traces: list, shapes: list) -> None:
    style, marker = line.get_linestyle(), line.get_marker()
    if callable(marker) or isinstance(style, tuple):
        raise Unfaithful
    drawn, marked = (
        style not in ("None", "", " "),
        marker not in ("None", "", " ", None),
    )
    opacity = line.get_alpha()
    ink = {
        "color": colour(line.get_color(), opacity),
        "width": PIXELS * float(line.get_linewidth()),
    }
    ink["dash"] = DASHES.get(style, "solid")
    xs, ys = line.get_xdata(), line.get_ydata()
    in_x, in_y = _in_data(line, axes)
    if not (in_x and in_y):
        if marked or len(xs) != 2:
            raise Unfaithful
        shapes.append(
            {
                "type": "line",
                "xref": x if in_x else f"{x} domain",
                "yref": y if in_y else f"{y} domain",
                **dict(zip(("x0", "x1"), numbers(xs), strict=True)),
                **dict(zip(("y0", "y1"), numbers(ys), strict=True)),
                "line": ink,
                "layer": "below",
            }
        )
        name = _name(line)
        if name:
            traces.append(
                {
                    "type": "scatter",
                    "x": [None],
                    "y": [None],
                    "mode": "lines",
                    "line": ink,
                    "name": name,
                }
            )
        return
    if marked and marker not in SYMBOLS:
        raise Unfaithful
    step = line.get_drawstyle()
    shape = {
        "default": "linear",
        "steps-post": "hv",
        "steps-pre": "vh",
        "steps-mid": "hvh",
    }
    if step not in shape:
        step = "steps-pre"
    trace = {
        "type": "scatter",
        "x": numbers(axes.convert_xunits(xs)),
        "y": numbers(axes.convert_yunits(ys)),
        "mode": "+".join(["lines"] * drawn + ["markers"] * marked) or "none",
        "name": _name(line),
        "line": {**ink, "shape": shape[step]},
    }
    if marked:
        trace["marker"] = {
            "symbol": SYMBOLS[marker],
            "size": PIXELS
            * float(line.get_markersize())
            * (0.5 if marker == "." else 1.0),
            "color": colour(line.get_markerfacecolor(), opacity)
            if str(line.get_markerfacecolor()) != "none"
            else "rgba(0,0,0,0)",
            "line": {
                "color": colour(line.get_markeredgecolor(), opacity),
                "width": PIXELS * float(line.get_markeredgewidth()),
            },
        }
    traces.append(trace)


def _collection(artist: Any, axes: Any) -> list[dict]:
    if _is(artist, collections.QuadMesh):
        return [_mesh(artist)]
    if _is(artist, collections.PathCollection):
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
                "name": _name(artist),
                "marker": {"color": ink, "size": numbers(sizes), "opacity": 1},
            }
        ]
    if not all(_in_data(artist, axes)):
        raise Unfaithful
    if _is(artist, collections.LineCollection):
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
                "name": _name(artist),
                "hoverinfo": "skip",
            }
        ]
    if _is(artist, collections.PolyCollection) and artist.get_array() is None:
        faces = artist.get_facecolors()
        if len(faces) != 1:
            raise Unfaithful
        return [
            _area(path.vertices, colour(faces[0]), _name(artist) if n == 0 else "")
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


def _patch(patch: Any, axes: Any, x: str, y: str, traces: list, shapes: list) -> None:
    if _is(patch, patches.FancyArrowPatch) or patch.get_hatch():
        raise Unfaithful
    in_x, in_y = _in_data(patch, axes)
    if _is(patch, patches.Rectangle) and not (in_x and in_y):
        corners = patch.get_corners()
        shapes.append(
            {
                "type": "rect",
                "xref": x if in_x else f"{x} domain",
                "yref": y if in_y else f"{y} domain",
                "x0": float(corners[0][0]),
                "x1": float(corners[2][0]),
                "y0": float(corners[0][1]),
                "y1": float(corners[2][1]),
                "fillcolor": colour(patch.get_facecolor()),
                "line": {"width": 0},
                "layer": "below",
            }
        )
        return
    to_data = patch.get_transform() - axes.transData
    polygons = patch.get_path().transformed(to_data).to_polygons(closed_only=False)
    for n, corners in enumerate(polygons):
        area = _area(
            corners, colour(patch.get_facecolor()), _name(patch) if n == 0 else ""
        )
        if not patch.get_fill():
            area |= {"fill": "none"}
        area["line"] = {
            "width": float(patch.get_linewidth()) if patch.get_edgecolor()[3] else 0,
            "color": colour(patch.get_edgecolor()),
        }
        traces.append(area)


def _bars(axes: Any) -> list[dict]:
    """Bars of one call are one trace, so that the legend moves them together."""
    traces = []
    for box in axes.containers:
        members = list(getattr(box, "patches", ()))
        if not members:
            continue
        inks = {member.get_facecolor() for member in members}
        if any(member.get_hatch() for member in members) or len(inks) > 1:
            for member in members:
                _patch(member, axes, "x", "y", traces, [])
            continue
        xs: list = []
        ys: list = []
        for member in members:
            corners = np.vstack([member.get_corners(), member.get_corners()[:1]])
            xs += [*numbers(corners[:, 0]), None]
            ys += [*numbers(corners[:, 1]), None]
        area = _area(np.zeros((0, 2)), colour(next(iter(inks))), _name(box))
        traces.append(area | {"x": xs, "y": ys, "hoverinfo": "x+y"})
    return traces


def _heat(values: Any, artist: Any, xs: Any, ys: Any) -> dict:
    norm = artist.norm
    if type(norm).__name__ not in ("Normalize", "TwoSlopeNorm"):
        raise Unfaithful
    rows = [numbers(row) for row in values]
    return {
        "type": "heatmap",
        "z": rows,
        "x": numbers(xs),
        "y": numbers(ys),
        "zmin": float(norm.vmin),
        "zmax": float(norm.vmax),
        "colorscale": colour_scale(artist.cmap),
        "showscale": False,
        "name": "",
    }


def _image(image: Any) -> dict:
    values = image.get_array()
    if not _is(image, matplotlib.image.AxesImage) or np.ndim(values) != 2:
        raise Unfaithful
    left, right, bottom, top = image.get_extent()
    height, width = np.shape(values)
    xs, ys = np.linspace(left, right, width + 1), np.linspace(bottom, top, height + 1)
    return _heat(values if image.origin == "lower" else values[::-1], image, xs, ys)


def _mesh(mesh: Any) -> dict:
    corners = mesh.get_coordinates()
    xs, ys = corners[0, :, 0], corners[:, 0, 1]
    straight = np.allclose(corners[..., 0], xs) and np.allclose(
        corners[..., 1], ys[:, None]
    )
    values = np.ma.asarray(mesh.get_array())
    if not straight or values.size != (len(xs) - 1) * (len(ys) - 1):
        raise Unfaithful
    return _heat(values.reshape(len(ys) - 1, len(xs) - 1), mesh, xs, ys)


def _text(text: Any, axes: Any, x: str, y: str) -> dict:
    if _is(text, Annotation) and text.arrow_patch is not None:
        raise Unfaithful
    if text.get_rotation() not in (0.0, 90.0):
        raise Unfaithful
    anchors = {"left": "left", "right": "right", "center": "center"}
    heights = {
        "top": "top",
        "bottom": "bottom",
        "center": "middle",
        "baseline": "bottom",
        "center_baseline": "middle",
    }
    made = {
        "text": untex(text.get_text()).replace("\n", "<br>"),
        "showarrow": False,
        "xanchor": anchors[text.get_horizontalalignment()],
        "yanchor": heights[text.get_verticalalignment()],
        "font": {
            "color": colour(text.get_color()),
            "size": PIXELS * float(text.get_fontsize()),
        },
        "textangle": -float(text.get_rotation()),
    }
    point, shift = _position(text)
    # Where it stands is known on the canvas; plotly wants it in a panel's own measure.
    canvas = axes.transData if _is(text, Annotation) else text.get_transform()
    place = axes.transAxes.inverted().transform(canvas.transform(point))
    return made | {
        "xref": f"{x} domain",
        "yref": f"{y} domain",
        "x": float(place[0]),
        "y": float(place[1]),
        "xshift": PIXELS * shift[0],
        "yshift": PIXELS * shift[1],
    }


def _position(text: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """The point at which a text stands, and its offset from there in points."""
    if not _is(text, Annotation):
        return text.get_unitless_position(), (0.0, 0.0)
    if text.xycoords != "data":
        raise Unfaithful
    if text.anncoords == "data":
        return text.xyann, (0.0, 0.0)
    if text.anncoords == "offset points":
        return text.xy, text.xyann
    raise Unfaithful
