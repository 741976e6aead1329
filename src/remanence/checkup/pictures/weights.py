"""What the weights look like: singular values and Fourier structure."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from ...report import Figure
from ..record import Checkup
from .canvas import blank


def singular(found: Checkup) -> Figure | None:
    """The singular values of every weight matrix, gate by gate."""
    if not found.singular:
        return None

    def draw():
        figure, axes = blank()
        for j, (name, values) in enumerate(found.singular.items()):
            share = np.arange(1, len(values) + 1) / len(values)
            kept = np.maximum(values, 1e-12)
            axes.plot(share, kept, color=f"C{j % 8}", ls="-" if j < 8 else "--", label=name)
        axes.axhline(1, color="C7", lw=1)
        axes.set(yscale="log", xlabel="rank (share of the whole)", ylabel="singular value")
        if len(found.singular) <= 16:
            axes.legend(ncols=2 if len(found.singular) > 4 else 1)
        return figure

    return Figure(
        "singular-values",
        "Singular values of the weights",
        "Every weight matrix, gate by gate. A quick fall is low rank.",
        draw,
        side_by_side(found.singular, "rank"),
    )


def fourier(found: Checkup) -> Figure | None:
    """The share of energy at each frequency along tokens, inputs and outputs."""
    if not found.fourier:
        return None

    def draw():
        figure, axes = blank()
        for j, (name, share) in enumerate(found.fourier.items()):
            frequency = np.arange(len(share)) / max(2 * (len(share) - 1), 1)
            axes.plot(frequency, share, color=f"C{j % 7}", label=name)
            axes.axhline(1 / max(len(share) - 1, 1), color=f"C{j % 7}", lw=1, ls=":")
        axes.set(xlabel="frequency (cycles per row)", ylabel="share of energy", ylim=(0, None))
        axes.legend()
        return figure

    return Figure(
        "fourier",
        "Fourier structure of the weights",
        "Energy along tokens, inputs and outputs in their given order; dotted: what "
        "weights without order would show.",
        draw,
        side_by_side(found.fourier, "frequency"),
    )


def side_by_side(rows: Mapping[str, np.ndarray], along: str) -> xr.Dataset:
    """Rows of several lengths as one data set, the shorter filled up with NaN."""
    width = max(len(row) for row in rows.values())
    pad = lambda row: np.pad(row, (0, width - len(row)), constant_values=np.nan)
    named = {name.replace("/", "_"): (along, pad(row)) for name, row in rows.items()}
    return xr.Dataset(named)
