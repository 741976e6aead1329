"""A figure as files: SVG and PNG, by day and by night, with its numbers beside it."""

import dataclasses
import io
import pathlib
import re
from collections.abc import Callable
from typing import Any

from .store import write_whole
from .study import Figure
from .style import PALETTES, style, Theme
from .tables import as_dataset, csv_tables, netcdf_bytes


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


def drawn(
    figure: Figure, twin_of: Callable[[Any, Theme], dict[str, Any] | None] | None = None
) -> Drawn:
    """The figure drawn once in each theme."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,80}", figure.name):
        raise ValueError(
            f"a figure's name is a file name of a-z, 0-9, - and _, got {figure.name!r}"
        )
    import matplotlib.pyplot as plt

    svg, png, twins = {}, {}, {}
    for theme in PALETTES:
        with style(theme):
            canvas = figure.draw()
            try:
                svg[theme] = _picture(canvas, "svg")
                png[theme] = _picture(canvas, "png")
                twins[theme] = twin_of(canvas, theme) if twin_of else None
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
