"""The picture of the spikes, tried again two other ways."""

from typing import Any

import numpy as np
import xarray as xr

from ....report import Figure
from ..training_cells import GENERALISES
from .panels import FLOOR, legend_below, LOSS


WAYS = {
    "sgd": ("the document's SGD", "o"),
    "descent": ("descent with a safe step", "s"),
    "flow": ("exact flow", "^"),
}


def spikes_figure(again: xr.Dataset) -> Figure:
    """A line a spike: its test loss by every way, and its negative entries."""

    def draw() -> Any:
        import matplotlib.pyplot as plt

        lines = np.arange(again.sizes["cell"])
        size = (9.2, 1.9 + 0.19 * lines.size)
        figure, axes = plt.subplots(1, 2, figsize=size, sharey=True, layout="constrained")
        for i, (way, (name, mark)) in enumerate(WAYS.items()):
            if way not in again:
                continue
            # A spike of SGD has reached the training loss.
            ending = again.get(f"{way}_ending", xr.zeros_like(again.scale))
            done = ending.values == 0
            loss = np.maximum(again[way].values, FLOOR)
            share = 100 * again[f"{way}_signs"].values
            style = {"color": f"C{i}", "ms": 6.5 - 1.2 * i, "alpha": 0.85}
            at = lines + 0.2 * (i - 1)
            for ax, values in zip(axes, (loss, share), strict=True):
                ax.plot(values[done], at[done], mark, label=name, **style)
                ax.plot(values[~done], at[~done], mark, mfc="none", **style)
        axes[0].axvline(GENERALISES, color="C7", lw=0.8, ls=":")
        axes[0].set(xlabel=LOSS, xscale="log")
        axes[1].set(xlabel="negative entries of untaught blocks (%)")
        axes[1].set_xlim(left=-0.5)
        columns = zip(*(again[n].values for n in ("scale", "fraction", "seed")), strict=True)
        names = [f"{scale:g}, {frac:.3f}, {int(seed)}" for scale, frac, seed in columns]
        axes[0].set_yticks(lines, names, fontsize=7)
        axes[0].set(ylabel="σ, fraction taught, seed", ylim=(lines.size - 0.4, -0.6))
        for ax in axes:
            ax.grid(axis="y", lw=0.3)
        legend_below(figure, *axes[0].get_legend_handles_labels(), columns=len(WAYS))
        return figure

    ways = " and by exact flow" if "flow" in again else ""
    return Figure(
        "spikes",
        "The spikes, tried again",
        f"Connected cells of Figure 1 (diagonal mask) whose test loss is above 1e-3 though they reached the training loss, by height at each σ, and again by descent with a safe step{ways}. A spike that another way does not have came from the step; one that stays is real, and pieces of its graph hold the wrong sign (right). Open marks: the training loss was not reached. Dotted: 1e-3.",
        draw,
        again,
    )
