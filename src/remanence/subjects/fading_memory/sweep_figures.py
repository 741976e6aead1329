"""Accuracy over the radius and over the angle, drawn."""

import math
from typing import Any

import numpy as np
import xarray as xr

from ...report import Figure
from .claims.accuracy import NEAR as EDGE


def band(ax: Any, x: np.ndarray, values: np.ndarray, **style: Any) -> None:
    """The mean over seeds (last axis), with one standard deviation either side."""
    mean, spread = values.mean(-1), values.std(-1, ddof=1)
    (line,) = ax.plot(x, mean, "o-", ms=3.5, **style)
    ax.fill_between(x, mean - spread, mean + spread, alpha=0.2, color=line.get_color())


def _last(table: xr.Dataset, experiment: str) -> xr.Dataset:
    """What a sweep over one number came to: accuracies at the end, exponents before it."""
    rows = table.isel(case=np.flatnonzero(table.experiment.values == experiment))
    over = ("value", "seed")
    return xr.Dataset(
        {
            "accuracy": (over, rows.accuracy.isel(mark=-1).values),
            "tuning": (over, rows.tuning.isel(mark=-1).values),
            "exponent": (over, rows.before.values),
        },
        {"value": rows.value.values},
    )


def radius_figure(table: xr.Dataset) -> Figure:
    """Accuracy over the radius and over the largest exponent before training."""
    rows = _last(table, "radius").rename(value="radius")

    def draw() -> Any:
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(
            1, 2, figsize=(9, 3.4), sharey=True, layout="constrained"
        )
        band(left, rows.radius.values, rows.accuracy.values)
        left.set(xlabel="radius r", ylabel="held-out accuracy")
        band(right, rows.exponent.values.mean(1), rows.accuracy.values)
        right.axvline(0, color="C7", lw=0.8, ls="--")
        # Linear within the edge, logarithmic beyond: all that is decided lies near 0.
        right.set_xscale("symlog", linthresh=EDGE, linscale=1)
        right.axvspan(-EDGE, EDGE, color="C7", alpha=0.1, lw=0)
        ticks = [t for t in (-1, -0.3, -EDGE, 0, EDGE) if _inside(t, rows)]
        right.set_xticks(ticks, [f"{t:g}".replace("-", "−") for t in ticks])
        right.minorticks_off()
        right.set(xlabel="largest exponent before training (nats per step)")
        return figure

    return Figure(
        "radius",
        "Accuracy over the radius, and over the exponent that was measured",
        "Homogeneous residuals rI, mean and standard deviation over seeds. The edge of chaos "
        "(dashed; shaded, what counts as near it) is where the measured exponent is 0; at "
        "this coupling that is not at r = 1.",
        draw,
        rows,
    )


def _inside(tick: float, rows: xr.Dataset) -> bool:
    low, high = float(rows.exponent.min()), float(rows.exponent.max())
    return 1.4 * low <= tick <= max(1.4 * high, EDGE)


def angle_figure(table: xr.Dataset, informed: Any, side: int) -> Figure:
    """Accuracy over the angle, pixels in order and permuted, before the data's spectrum."""
    orders = ("sequential", "permuted")
    parts = [_last(table, f"angle, {where}") for where in orders]
    rows = xr.concat(parts, "pixels", join="outer").rename(value="angle")
    rows = rows.assign_coords(pixels=list(orders)).transpose("pixels", "angle", "seed")

    def draw() -> Any:
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
        for i, where in enumerate(orders):
            final = rows.sel(pixels=where).dropna("angle")
            band(
                ax,
                final.angle.values,
                final.accuracy.values,
                color=f"C{i}",
                label=f"{where} pixels",
            )
        row = 2 * math.pi / side
        ax.axvline(row, color="C7", lw=0.8, ls="--", label=f"2π/{side}")
        twin = ax.twinx()
        S = informed.spectrum
        twin.fill_between(S.angles, S.power, color="C7", alpha=0.15, lw=0)
        twin.set_yticks([])
        twin.set_ylim(0, 1.1 * S.power.max())
        ax.set(xlabel="angle φ (radians per step)", ylabel="held-out accuracy")
        widest = float(rows.angle.max())  # the spectrum goes on to π
        ax.set_xlim(-0.03 * widest, 1.03 * widest)
        ax.legend(frameon=False, loc="upper right")
        return figure

    return Figure(
        "angle",
        "Accuracy over the angle of a rotational residual",
        "Shaded: mean power spectrum of the pixels in order. Bands: one standard deviation "
        "over seeds.",
        draw,
        rows,
    )
