"""The interactive twin of a drawn figure: what matplotlib drew, as plotly data.

The twin is read off the drawn axes, so it shows the same numbers in the same
colours. It is faithful or absent: an artist, scale or overlay that has no exact
counterpart here makes `twin` return None, and the still picture stands alone.
"""

import json
from typing import Any

import numpy as np

from .ink import colour_scale, Unfaithful
from .marks import marks
from .style import PALETTES, Theme
from .untex import untex


LARGEST = 1_500_000
"""Characters of JSON above which a page would open too slowly."""


def twin(canvas: Any, theme: Theme) -> dict[str, Any] | None:
    """The plotly figure that shows the same; None if something would be lost."""
    try:
        found = _converted(canvas, theme)
    except Unfaithful:
        return None
    return found if len(json.dumps(found)) <= LARGEST else None


def _converted(canvas: Any, theme: Theme) -> dict[str, Any]:
    palette = PALETTES[theme]
    bars = {axes: axes._colorbar for axes in canvas.axes if hasattr(axes, "_colorbar")}
    plots = [axes for axes in canvas.axes if axes not in bars and axes.get_visible()]
    _refuse_overlaps(plots)
    if canvas.legends or canvas.lines or canvas.patches or canvas.images:
        raise Unfaithful
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "height": int(canvas.get_figheight() * 96),
        "margin": {"l": 8, "r": 8, "t": 30 if canvas.get_suptitle() else 8, "b": 8},
        "paper_bgcolor": palette.raised,
        "plot_bgcolor": palette.raised,
        "font": {"color": palette.ink, "size": 13},
        "hovermode": "closest",
        "shapes": [],
        "annotations": [],
    }
    if canvas.get_suptitle():
        layout["title"] = {"text": untex(canvas.get_suptitle()), "font": {"size": 15}}
    for position, axes in enumerate(plots):
        _add_axes(axes, position, data, layout, palette)
    for axes, bar in bars.items():
        data.append(_colour_bar(axes, bar))
    return {"data": data, "layout": layout}


def _refuse_overlaps(plots: list[Any]) -> None:
    boxes = [axes.get_position() for axes in plots]
    for n, first in enumerate(boxes):
        for second in boxes[n + 1 :]:
            width = min(first.x1, second.x1) - max(first.x0, second.x0)
            height = min(first.y1, second.y1) - max(first.y0, second.y0)
            if width > 1e-3 and height > 1e-3:
                raise Unfaithful


def _add_axes(axes: Any, position: int, data: list, layout: dict, palette: Any) -> None:
    if axes.name != "rectilinear":
        raise Unfaithful
    suffix = "" if position == 0 else str(position + 1)
    names = (f"x{suffix}", f"y{suffix}")
    box = axes.get_position()
    layout[f"xaxis{suffix}"] = _axis(axes.xaxis, (box.x0, box.x1), names[1], palette)
    layout[f"yaxis{suffix}"] = _axis(axes.yaxis, (box.y0, box.y1), names[0], palette)
    if axes.get_aspect() == 1.0:
        layout[f"yaxis{suffix}"]["scaleanchor"] = names[0]
    traces, shapes, annotations = marks(axes, *names)
    title = axes.get_title(loc="left") or axes.get_title() or axes.get_title("right")
    if title:
        annotations.append(
            {
                "text": f"<b>{untex(title)}</b>",
                "xref": f"{names[0]} domain",
                "yref": f"{names[1]} domain",
                "x": 0,
                "y": 1,
                "yanchor": "bottom",
                "xanchor": "left",
                "showarrow": False,
            }
        )
    _legend(axes, suffix, traces, layout)
    if not axes.axison:
        for letter in "xy":
            layout[f"{letter}axis{suffix}"]["visible"] = False
    data += traces
    layout["shapes"] += shapes
    layout["annotations"] += annotations


def _axis(axis: Any, domain: tuple[float, float], anchor: str, palette: Any) -> dict:
    scale = axis.get_scale()
    if scale not in ("linear", "log"):
        raise Unfaithful
    low, high = axis.get_view_interval()
    limits = [low, high] if scale == "linear" else list(np.log10([low, high]))
    made = {
        "domain": [max(0.0, domain[0]), min(1.0, domain[1])],
        "anchor": anchor,
        "type": scale,
        "range": [float(limit) for limit in limits],
        "title": {"text": untex(axis.get_label_text()), "standoff": 6},
        "linecolor": palette.soft,
        "gridcolor": palette.line,
        "showgrid": bool(
            axis.get_gridlines() and axis.get_gridlines()[0].get_visible()
        ),
        "zeroline": False,
        "ticks": "outside",
        "automargin": True,
        "showticklabels": any(
            axis.get_tick_params().get(f"label{side}", False)
            for side in ("left", "right", "bottom", "top")
        ),
    }
    formatter = type(axis.get_major_formatter()).__name__
    if formatter not in ("ScalarFormatter", "LogFormatterSciNotation"):
        ticks = [
            tick
            for tick in axis.get_ticklocs()
            if min(low, high) <= tick <= max(low, high)
        ]
        labels = axis.get_major_formatter().format_ticks(ticks)
        made |= {
            "tickmode": "array",
            "tickvals": [float(tick) for tick in ticks],
            "ticktext": [untex(label) for label in labels],
        }
    elif scale == "log":
        made |= (
            {"dtick": 1, "exponentformat": "power"}
            if abs(limits[1] - limits[0]) > 1
            else {}
        )
    return made


def _legend(axes: Any, suffix: str, traces: list, layout: dict) -> None:
    legend = axes.get_legend()
    labels = [] if legend is None else [untex(t.get_text()) for t in legend.get_texts()]
    unmatched = list(labels)
    for trace in traces:
        shown = trace.get("name") in unmatched
        if shown:
            unmatched.remove(trace["name"])
        trace["showlegend"] = shown
        trace["legend"] = f"legend{suffix}"
    if unmatched:
        raise Unfaithful
    if legend is not None and labels:
        box = legend.get_window_extent().transformed(axes.figure.transFigure.inverted())
        panel = axes.get_position()
        # Plotly's rows are taller: held by the near corner, it grows into the panel.
        right = box.x0 + box.x1 > panel.x0 + panel.x1
        top = box.y0 + box.y1 > panel.y0 + panel.y1
        layout[f"legend{suffix}"] = {
            "x": float(box.x1 if right else box.x0),
            "y": float(box.y1 if top else box.y0),
            "xanchor": "right" if right else "left",
            "yanchor": "top" if top else "bottom",
            "bgcolor": "rgba(0,0,0,0)",
            "font": {"size": 11},
            # In several columns it would run on into the next panel.
            "orientation": "v",
            "title": {"text": untex(legend.get_title().get_text())},
        }


def _colour_bar(axes: Any, bar: Any) -> dict[str, Any]:
    norm, box = bar.norm, axes.get_position()
    if (
        type(norm).__name__ not in ("Normalize", "TwoSlopeNorm")
        or bar.orientation != "vertical"
    ):
        raise Unfaithful
    if type(norm).__name__ == "TwoSlopeNorm" and not np.isclose(
        norm.vcenter - norm.vmin, norm.vmax - norm.vcenter
    ):
        raise Unfaithful
    return {
        "type": "scatter",
        "x": [None],
        "y": [None],
        "mode": "markers",
        "showlegend": False,
        "hoverinfo": "skip",
        "marker": {
            "cmin": float(norm.vmin),
            "cmax": float(norm.vmax),
            "color": [float(norm.vmin)],
            "colorscale": colour_scale(bar.cmap),
            "showscale": True,
            "colorbar": {
                "title": {"text": untex(axes.get_ylabel()), "side": "right"},
                "thickness": 12,
                "x": float(box.x0),
                "xanchor": "left",
                "y": float((box.y0 + box.y1) / 2),
                "len": float(box.y1 - box.y0),
                "outlinewidth": 0,
            },
        },
    }
