"""The numbers of a figure that came without any, read off the drawn axes."""

from typing import Any

import numpy as np
import xarray as xr


def numbers(canvas: Any) -> xr.Dataset | None:
    """Every point of every line, cloud, bar and image, with its panel and mark.

    `x` and `y` are in the units of the axes; `value` is what an image's pixel shows.
    """
    rows: list[tuple[int, str, np.ndarray]] = []
    for panel, axes in enumerate(canvas.axes):
        for place, artist in enumerate(_marks(axes)):
            label = str(artist.get_label())
            name = label if label and not label.startswith("_") else f"mark {place}"
            rows.append((panel, name, _points(artist)))
    rows = [row for row in rows if len(row[2])]
    if not rows:
        return None
    sizes = [len(points) for _, _, points in rows]
    points = np.concatenate([points for _, _, points in rows])
    columns = {
        "panel": np.repeat([panel for panel, _, _ in rows], sizes),
        "mark": np.repeat(np.asarray([name for _, name, _ in rows], dtype="U"), sizes),
        "x": points[:, 0],
        "y": points[:, 1],
        "value": points[:, 2],
    }
    return xr.Dataset({name: ("point", column) for name, column in columns.items()})


def _marks(axes: Any) -> list[Any]:
    return [*axes.lines, *axes.collections, *axes.patches, *axes.images]


def _points(artist: Any) -> np.ndarray:
    """Rows of x, y, value."""
    if hasattr(artist, "get_xydata"):
        return _valued(artist.get_xydata())
    if hasattr(artist, "get_extent") and hasattr(artist, "get_array"):
        pixels = np.ma.filled(np.ma.asarray(artist.get_array(), float), np.nan)
        if pixels.ndim != 2:
            return np.empty((0, 3))
        left, right, bottom, top = artist.get_extent()
        height, width = pixels.shape
        if artist.origin == "upper":
            bottom, top = top, bottom
        x = left + (np.arange(width) + 0.5) * (right - left) / width
        y = bottom + (np.arange(height) + 0.5) * (top - bottom) / height
        grid = np.meshgrid(x, y)
        return np.stack([grid[0].ravel(), grid[1].ravel(), pixels.ravel()], axis=1)
    if hasattr(artist, "get_offsets") and len(artist.get_offsets()) > 1:
        return _valued(np.asarray(artist.get_offsets(), float))
    if hasattr(artist, "get_width"):
        return _valued(
            [[artist.get_x() + artist.get_width() / 2, artist.get_y() + artist.get_height()]]
        )  # fmt: skip
    return np.empty((0, 3))


def _valued(points: Any) -> np.ndarray:
    points = np.asarray(points, float).reshape(-1, 2)
    return np.column_stack([points, np.full(len(points), np.nan)])
