"""Images and meshes of a matplotlib axes as plotly heat maps."""

from typing import Any

import matplotlib.image
import numpy as np

from .ink import colour_scale, is_a, numbers, Unfaithful


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


def image(drawn: Any) -> dict:
    """An image of numbers as a heat map."""
    values = drawn.get_array()
    if not is_a(drawn, matplotlib.image.AxesImage) or np.ndim(values) != 2:
        raise Unfaithful
    left, right, bottom, top = drawn.get_extent()
    height, width = np.shape(values)
    xs, ys = np.linspace(left, right, width + 1), np.linspace(bottom, top, height + 1)
    return _heat(values if drawn.origin == "lower" else values[::-1], drawn, xs, ys)


def mesh(drawn: Any) -> dict:
    """A mesh of straight rows and columns as a heat map."""
    corners = drawn.get_coordinates()
    xs, ys = corners[0, :, 0], corners[:, 0, 1]
    straight = np.allclose(corners[..., 0], xs) and np.allclose(
        corners[..., 1], ys[:, None]
    )
    values = np.ma.asarray(drawn.get_array())
    if not straight or values.size != (len(xs) - 1) * (len(ys) - 1):
        raise Unfaithful
    return _heat(values.reshape(len(ys) - 1, len(xs) - 1), drawn, xs, ys)
