"""Everything in a matplotlib axes as plotly traces, shapes and annotations."""

from typing import Any

import numpy as np
from matplotlib.text import Annotation

from .areas import bars, collection, patch
from .heat import image, is_picture, picture
from .ink import (
    colour,
    DASHES,
    in_data,
    is_a,
    name_of,
    numbers,
    PIXELS,
    SYMBOLS,
    Unfaithful,
)
from .untex import untex


def marks(axes: Any, x: str, y: str) -> tuple[list[dict], dict[str, list[dict]]]:
    """The traces of one axes, and its shapes, images and annotations."""
    traces: list[dict] = []
    shapes: list[dict] = []
    images: list[dict] = []
    for box in axes.containers:  # an error bar keeps its name on the group
        lines = getattr(box, "lines", None)
        if lines:
            (lines[0] or lines[2][0]).set_label(box.get_label())
    grouped = {bar for box in axes.containers for bar in getattr(box, "patches", ())}
    for artist in sorted(axes.get_children(), key=lambda a: a.get_zorder()):
        if not artist.get_visible() or artist is axes.patch or artist in grouped:
            continue
        if artist in axes.lines:
            as_line(artist, axes, x, y, traces, shapes)
        elif artist in axes.collections:
            traces += collection(artist, axes)
        elif artist in axes.images and is_picture(artist):
            images.append(picture(artist, axes, x, y))
        elif artist in axes.images:
            traces.append(image(artist))
        elif artist in axes.patches:
            patch(artist, axes, x, y, traces, shapes)
        elif artist in axes.artists or artist in axes.tables:
            raise Unfaithful
    traces += bars(axes)
    for trace in traces:
        trace |= {"xaxis": x, "yaxis": y}
    words = [
        as_words(text, axes, x, y)
        for text in axes.texts
        if text.get_text() and text.get_visible()
    ]
    return traces, {"shapes": shapes, "images": images, "annotations": words}


def as_line(line: Any, axes: Any, x: str, y: str, traces: list, shapes: list) -> None:
    """A line in data, or one across the panel, which plotly calls a shape."""
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
    in_x, in_y = in_data(line, axes)
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
        name = name_of(line)
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
        "name": name_of(line),
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


def as_words(text: Any, axes: Any, x: str, y: str) -> dict:
    """A text where it stands, as an annotation."""
    if is_a(text, Annotation) and text.arrow_patch is not None:
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
    canvas, shift, fixed = _position(text, axes)
    made |= {"xshift": PIXELS * shift[0], "yshift": PIXELS * shift[1]}
    if fixed:  # to the panel, wherever its axes are dragged
        across, up = axes.transAxes.inverted().transform(canvas)
        x, y = f"{x} domain", f"{y} domain"
    else:
        across, up = axes.transData.inverted().transform(canvas)
        across = np.log10(across) if axes.get_xscale() == "log" else across
        up = np.log10(up) if axes.get_yscale() == "log" else up
    return made | {"xref": x, "yref": y, "x": float(across), "y": float(up)}


def _position(text: Any, axes: Any) -> tuple[Any, tuple[float, float], bool]:
    """The point of the canvas where a text stands, its offset in points, how it is held."""
    if not is_a(text, Annotation):
        at = text.get_transform().transform(text.get_unitless_position())
        return at, (0.0, 0.0), not all(in_data(text, axes))
    measures = {"data": axes.transData, "axes fraction": axes.transAxes}
    given = text.xycoords
    kinds = (given, given) if isinstance(given, str) else tuple(given)
    if any(kind not in measures for kind in kinds):
        raise Unfaithful
    if text.anncoords == "offset points":
        point, shift = text.xy, text.xyann
    elif text.anncoords == text.xycoords:
        point, shift = text.xyann, (0.0, 0.0)
    else:
        raise Unfaithful
    at = [measures[kind].transform(point)[n] for n, kind in enumerate(kinds)]
    return at, shift, kinds != ("data", "data")
