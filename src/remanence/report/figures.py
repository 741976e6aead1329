"""A figure as files: SVG by day and by night, PNG by day, its numbers beside it."""

import dataclasses
import io
import pathlib
import re
from collections.abc import Callable
from typing import Any

from .numbers import numbers
from .store import write_whole
from .study import Figure
from .style import PALETTES, style, Theme
from .tables import as_dataset, csv_tables, netcdf_bytes


HEAVY = 400_000
"""Bytes of SVG above which a page shows the PNG, and the night's PNG is drawn at all."""


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A figure after drawing: the pictures by theme, and the files that were written."""

    figure: Figure
    svg: dict[Theme, bytes]
    png: dict[Theme, bytes]
    tables: tuple[str, ...]
    """File names of its numbers, CSV first."""
    twin: dict[Theme, dict[str, Any]] | None = None
    """The interactive twin by theme, where there is a faithful one."""


def _picture(canvas: Any, format: str) -> bytes:
    buffer = io.BytesIO()
    metadata = (
        {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
    )
    canvas.savefig(buffer, format=format, metadata=metadata)
    return buffer.getvalue()


def _laid_out(canvas: Any, boxes: list[Any] | None) -> list[Any] | None:
    """Place the axes, and no more after that: a layout takes as long as a drawing.

    `boxes` are the places in the other theme, which only differs in its colours;
    None where more than axes is placed.
    """
    if boxes is None:
        engine = canvas.get_layout_engine()
        if engine is not None:
            engine.execute(canvas)
    else:
        for axes, box in zip(canvas.axes, boxes, strict=True):
            axes.set_position(box)
    canvas.set_layout_engine("none")
    if canvas.subfigs or canvas.legends or canvas.get_suptitle():
        return None
    return [axes.get_position(original=True) for axes in canvas.axes]


def drawn(
    figure: Figure, twin_of: Callable[[Any, Theme], dict[str, Any] | None] | None = None
) -> Drawn:
    """The figure drawn once in each theme."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,80}", figure.name):
        raise ValueError(
            f"a figure's name is a file name of a-z, 0-9, - and _, got {figure.name!r}"
        )
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure as MplFigure

    svg, png, twins, boxes = {}, {}, {}, None
    for theme in PALETTES:
        with style(theme):
            canvas = figure.draw()
            try:
                boxes = _laid_out(canvas, boxes)
                svg[theme] = _picture(canvas, "svg")
                if theme == "light" or len(svg[theme]) > HEAVY:
                    png[theme] = _picture(canvas, "png")
                elif twin_of and type(canvas).savefig is not MplFigure.savefig:
                    _picture(canvas, "png")  # one that moves stands still for its twin
                twins[theme] = twin_of(canvas, theme) if twin_of else None
                if figure.data is None:
                    figure = dataclasses.replace(figure, data=numbers(canvas))
            finally:
                plt.close(canvas)
    twin = twins if all(twins.values()) else None
    return Drawn(figure=figure, svg=svg, png=png, tables=(), twin=twin)


def write_figure(picture: Drawn, folder: pathlib.Path) -> Drawn:
    """Write the pictures and the numbers; the light twin has the plain name."""
    name = picture.figure.name
    for theme in PALETTES:
        stem = name if theme == "light" else f"{name}-{theme}"
        write_whole(folder / f"{stem}.svg", picture.svg[theme])
        if theme in picture.png:
            write_whole(folder / f"{stem}.png", picture.png[theme])
    dataset = as_dataset(picture.figure.data)
    tables = []
    if dataset is not None:
        for axes, text in csv_tables(dataset).items():
            label = re.sub(r"[^A-Za-z0-9_-]+", "_", axes)
            tables.append(f"{name}.csv" if not axes else f"{name}.{label}.csv")
            write_whole(folder / tables[-1], text.encode())
        tables.append(f"{name}.nc")
        write_whole(folder / tables[-1], netcdf_bytes(dataset))
    return dataclasses.replace(picture, tables=tuple(tables))
