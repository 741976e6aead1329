"""The interactive twin of a drawn figure: what matplotlib drew, as plotly data.

The twin is read off the drawn axes, so it shows the same numbers in the same
colours. It is faithful or absent: an artist, scale or overlay that has no exact
counterpart here makes `twin` return None, and the still picture stands alone.
"""

import json
from typing import Any

from . import space
from .ink import Unfaithful
from .marks import marks
from .scales import axis_of, colour_bar, legend_of
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
    _refuse_loose_parts(canvas)
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "width": int(canvas.get_figwidth() * 96),
        "height": int(canvas.get_figheight() * 96),
        "margin": {"l": 8, "r": 8, "t": 30 if canvas.get_suptitle() else 8, "b": 8},
        "paper_bgcolor": palette.raised,
        "plot_bgcolor": palette.raised,
        "font": {"color": palette.ink, "size": 13},
        "hovermode": "closest",
        "shapes": [],
        "images": [],
        "annotations": [],
    }
    if canvas.get_suptitle():
        layout["title"] = {"text": untex(canvas.get_suptitle()), "font": {"size": 15}}
    position = 0
    for panel in _panels(plots):
        if panel[0].name == "3d":
            _add_space(panel[0], position, data, layout, palette)
        else:
            _add_panel(panel, position, data, layout, palette)
        position += len(panel)
    for axes, bar in bars.items():
        data.append(colour_bar(bar, _box(axes.bbox, axes)))
    return {"data": data, "layout": layout}


def _refuse_loose_parts(canvas: Any) -> None:
    """What belongs to no axes has no place in the twin."""
    for part in (canvas, *canvas.subfigs):
        if part.legends or part.lines or part.images:
            raise Unfaithful
        if any(drawn is not part.patch for drawn in part.patches):
            raise Unfaithful
        if part is not canvas and part.get_suptitle():
            raise Unfaithful


def _box(drawn: Any, axes: Any) -> Any:
    """A box of the canvas in parts of the whole figure, also inside of a subfigure."""
    whole = axes.get_figure(root=True)
    return drawn.transformed(whole.transFigure.inverted())


def _panels(plots: list[Any]) -> list[list[Any]]:
    """Axes by panel: one, or two that share their x and differ in their y."""
    panels: list[list[Any]] = []
    for axes in plots:
        box = _box(axes.bbox, axes)
        for panel in panels:
            other = _box(panel[0].bbox, axes)
            width = min(box.x1, other.x1) - max(box.x0, other.x0)
            height = min(box.y1, other.y1) - max(box.y0, other.y0)
            if width <= 1e-3 or height <= 1e-3:
                continue
            shared = panel[0].get_shared_x_axes().joined(panel[0], axes)
            if not shared or len(panel) > 1:
                raise Unfaithful
            panel.append(axes)
            break
        else:
            panels.append([axes])
    return panels


def _add_panel(
    panel: list[Any], position: int, data: list, layout: dict, palette: Any
) -> None:
    first, suffix = panel[0], _suffix(position)
    box = _box(first.bbox, first)
    x = f"x{suffix}"
    layout[f"xaxis{suffix}"] = axis_of(
        first.xaxis, (box.x0, box.x1), f"y{suffix}", palette
    )
    traces: list[dict[str, Any]] = []
    for number, axes in enumerate(panel):
        if axes.name != "rectilinear" or axes.child_axes:
            raise Unfaithful
        y = f"y{_suffix(position + number)}"
        side = axis_of(axes.yaxis, (box.y0, box.y1), x, palette)
        if axes.get_aspect() == 1.0:
            side["scaleanchor"] = x
        if number:  # on the right, over the first
            side |= {"overlaying": f"y{suffix}", "side": "right"}
        layout[f"yaxis{_suffix(position + number)}"] = side
        found, more = marks(axes, x, y)
        traces += found
        for kind, items in more.items():
            layout[kind] += items
        layout["annotations"] += _title(axes, f"{x} domain", f"{y} domain")
        if not axes.axison:
            side["visible"] = False
            layout[f"xaxis{suffix}"]["visible"] = False
    named = [axes for axes in panel if axes.get_legend() is not None]
    if len(named) > 1:
        raise Unfaithful
    holder = named[0] if named else first
    place = _box(holder.get_legend().get_window_extent(), first) if named else None
    legend = legend_of(holder, f"legend{suffix}", place, box, traces)
    if legend is not None:
        layout[f"legend{suffix}"] = legend
    data += traces


def _add_space(
    axes: Any, position: int, data: list, layout: dict, palette: Any
) -> None:
    box, suffix = _box(axes.bbox, axes), _suffix(position)
    name = f"scene{suffix}"
    domain = {"x": [box.x0, box.x1], "y": [box.y0, box.y1]}
    layout[name] = space.scene(axes, domain, palette)
    data += space.traces(axes, name)
    layout["annotations"] += [
        title | {"x": float(box.x0), "y": float(box.y1)}
        for title in _title(axes, "paper", "paper")
    ]


def _suffix(position: int) -> str:
    return "" if position == 0 else str(position + 1)


def _title(axes: Any, xref: str, yref: str) -> list[dict[str, Any]]:
    words = axes.get_title(loc="left") or axes.get_title() or axes.get_title("right")
    title = {
        "text": f"<b>{untex(words)}</b>",
        "xref": xref,
        "yref": yref,
        "x": 0,
        "y": 1,
        "yanchor": "bottom",
        "xanchor": "left",
        "showarrow": False,
    }
    return [title] if words else []
