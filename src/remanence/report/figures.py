"""A figure as files: SVG for light and dark pages, a PNG, and its numbers beside it."""

import dataclasses
import io
import pathlib
import re
import textwrap
from typing import Any

from .stored_result import write_atomically
from .study import Figure
from .style import PALETTES, recolour_for_dark, style, Theme
from .tables import as_dataset, csv_tables, netcdf_bytes


FIGURE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,80}")  # also a file's name, on every system
HEAVY = 400_000  # bytes of SVG above which a page shows the PNG, and the dark PNG is drawn at all
THUMBNAIL = (3.6, 2.2)  # inches of the small picture on a card


@dataclasses.dataclass(frozen=True)
class DrawnFigure:
    """A figure after drawing: the pictures by theme, and the files that were written."""

    figure: Figure
    svg: dict[Theme, bytes]
    png: dict[Theme, bytes]
    tables: tuple[str, ...] = ()  # file names of its numbers, CSV first

    @property
    def kind(self) -> str:
        """What a page shows: an SVG, or a PNG where that would be heavy."""
        return "png" if max(map(len, self.svg.values())) > HEAVY else "svg"

    @property
    def width(self) -> int:
        """Pixels of the page that it takes, as wide as it was drawn."""
        points = re.search(rb'<svg[^>]* width="([\d.]+)pt"', self.svg["light"])
        return round(float(points[1]) * 96 / 72) if points else 0


def _saved(canvas: Any, format: str) -> bytes:
    buffer = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
    canvas.savefig(buffer, format=format, metadata=metadata)
    return buffer.getvalue()


def draw_figure(figure: Figure, *, png: bool = True) -> DrawnFigure:
    """The figure in each theme; without `png` there is one only where an SVG would be heavy."""
    if not FIGURE_NAME.fullmatch(figure.name):
        raise ValueError(
            f"a figure's name is a file name of a-z, 0-9, - and _, got {figure.name!r}"
        )
    import matplotlib.pyplot as plt

    svg, pixels = {}, {}
    for theme in PALETTES:
        # Drawing takes most of the time of a page: what colours alone can do is not drawn twice.
        light = svg.get("light", b"")
        if 0 < len(light) <= HEAVY and (recoloured := recolour_for_dark(light.decode())):
            svg[theme] = recoloured.encode()
            continue
        with style(theme):
            canvas = figure.draw()
            try:
                if (engine := canvas.get_layout_engine()) is not None:
                    engine.execute(canvas)
                    canvas.set_layout_engine("none")  # once, not for every format
                svg[theme] = _saved(canvas, "svg")
                if (png and theme == "light") or len(svg[theme]) > HEAVY:
                    pixels[theme] = _saved(canvas, "png")
            finally:
                plt.close(canvas)
    return DrawnFigure(figure=figure, svg=svg, png=pixels)


def draw_thumbnail(figure: Figure, panel: int = 0) -> DrawnFigure:
    """One of its panels alone, small enough to be read on a card."""
    draw = lambda: keep_panel(figure.draw(), panel)
    return draw_figure(Figure(f"{figure.name}-small", figure.title, figure.caption, draw))


def keep_panel(canvas: Any, panel: int) -> Any:
    """The drawing with one panel left, alone and small, without legend and title."""
    if not canvas.axes:
        return canvas
    first = canvas.axes[min(panel, len(canvas.axes) - 1)]
    # A panel that shares its axes leaves their labels and ticks to another one.
    below = [a for a in canvas.axes if first.get_shared_x_axes().joined(first, a)]
    beside = [a for a in canvas.axes if first.get_shared_y_axes().joined(first, a)]
    across = first.get_xlabel() or max((a.get_xlabel() for a in below), default="")
    up = first.get_ylabel() or max((a.get_ylabel() for a in beside), default="")
    for axes in [axes for axes in canvas.axes if axes is not first]:
        for drawn in (*first.images, *first.collections):
            if getattr(drawn.colorbar, "ax", None) is axes:
                drawn.colorbar.remove()
        if axes in canvas.axes and axes.bbox.bounds != first.bbox.bounds:
            axes.remove()
    canvas.suptitle("")
    canvas.legends.clear()
    canvas.set_size_inches(THUMBNAIL)
    if first.get_subplotspec() is not None:
        first.set_subplotspec(canvas.add_gridspec(1, 1)[0])
    first.set_title("", loc="left")
    first.set_title("")
    if first.get_legend() is not None:
        first.get_legend().remove()
    shared = {"labelbottom": True} if len(below) > 1 else {}
    shared |= {"labelleft": True} if len(beside) > 1 else {}
    first.tick_params(**shared, labelsize=8, which="both")
    first.set_xlabel(textwrap.fill(across, 44), fontsize=8)
    first.set_ylabel(textwrap.fill(up, 28), fontsize=8)
    return canvas


def write_figure(picture: DrawnFigure, folder: pathlib.Path) -> DrawnFigure:
    """Write the pictures and the numbers; the light one has the plain name."""
    name = picture.figure.name
    for theme in PALETTES:
        stem = name if theme == "light" else f"{name}-{theme}"
        write_atomically(folder / f"{stem}.svg", picture.svg[theme])
        if theme in picture.png:
            write_atomically(folder / f"{stem}.png", picture.png[theme])
    tables = {}
    if (dataset := as_dataset(picture.figure.data)) is not None:
        for axes, text in csv_tables(dataset).items():
            label = re.sub(r"[^A-Za-z0-9_-]+", "_", axes)
            tables[f"{name}.{label}.csv" if axes else f"{name}.csv"] = text.encode()
        tables[f"{name}.nc"] = netcdf_bytes(dataset)
    for file, content in tables.items():
        write_atomically(folder / file, content)
    return dataclasses.replace(picture, tables=tuple(tables))
