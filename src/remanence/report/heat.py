"""Images and meshes of a matplotlib axes as plotly heat maps, large ones as pictures."""

import base64
import io
from typing import Any

import matplotlib.image
import numpy as np

from .ink import colour_scale, is_a, numbers, Unfaithful


CELLS = 20_000
"""Numbers above which an image is shown as a picture, without its numbers."""


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
        "opacity": 1.0 if artist.get_alpha() is None else float(artist.get_alpha()),
        "name": "",
    }


def is_picture(drawn: Any) -> bool:
    """Whether an image is of colours, or of too many numbers for a heat map."""
    values = drawn.get_array()
    return np.ndim(values) == 3 or np.size(values) > CELLS


def picture(drawn: Any, axes: Any, x: str, y: str) -> dict:
    """An image as it was coloured, under everything else."""
    left, right, bottom, top = drawn.get_extent()
    if not is_a(drawn, matplotlib.image.AxesImage) or left > right or bottom > top:
        raise Unfaithful
    if axes.xaxis_inverted() or axes.yaxis_inverted():
        raise Unfaithful
    coloured = drawn.to_rgba(drawn.get_array(), alpha=drawn.get_alpha(), bytes=True)
    png = io.BytesIO()
    upright = coloured[::-1] if drawn.origin == "lower" else coloured
    matplotlib.image.imsave(png, np.ascontiguousarray(upright), format="png")
    return {
        "source": f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode()}",
        "xref": x,
        "yref": y,
        "x": float(left),
        "y": float(top),
        "sizex": float(right - left),
        "sizey": float(top - bottom),
        "xanchor": "left",
        "yanchor": "top",
        "sizing": "stretch",
        "layer": "below",
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
