"""Axes, colour bars and legends of a matplotlib figure, in plotly's words."""

from typing import Any

import numpy as np

from .ink import colour_scale, Unfaithful
from .untex import untex


def axis_of(axis: Any, domain: tuple[float, float], anchor: str, palette: Any) -> dict:
    """One axis: its scale, range, ticks and title as drawn."""
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
    chosen = type(axis.get_major_locator()).__name__ in ("FixedLocator", "NullLocator")
    if chosen or formatter not in ("ScalarFormatter", "LogFormatterSciNotation"):
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


def legend_of(axes: Any, name: str, box: Any, panel: Any, traces: list) -> dict | None:
    """Where the legend stands; marks the traces that it names as shown."""
    legend = axes.get_legend()
    labels = [] if legend is None else [untex(t.get_text()) for t in legend.get_texts()]
    unmatched = list(labels)
    for trace in traces:
        shown = trace.get("name") in unmatched
        if shown:
            unmatched.remove(trace["name"])
        trace |= {"showlegend": shown, "legend": name}
    if unmatched:
        raise Unfaithful
    if legend is None or not labels:
        return None
    # Plotly's rows are taller: held by the near corner, it grows into the panel.
    right = box.x0 + box.x1 > panel.x0 + panel.x1
    top = box.y0 + box.y1 > panel.y0 + panel.y1
    return {
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


def colour_bar(bar: Any, box: Any) -> dict[str, Any]:
    """A colour bar in its place, on a trace that shows nothing else."""
    norm = bar.norm
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
                "title": {"text": untex(bar.ax.get_ylabel()), "side": "right"},
                "thickness": 12,
                "x": float(box.x0),
                "xanchor": "left",
                "y": float((box.y0 + box.y1) / 2),
                "len": float(box.y1 - box.y0),
                "outlinewidth": 0,
            },
        },
    }
