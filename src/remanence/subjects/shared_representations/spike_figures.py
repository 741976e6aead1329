"""The picture of the spikes, tried again two other ways."""

from typing import Any

import numpy as np
import xarray as xr

from ...report import Figure
from .axes import FLOOR
from .figure_one import GENERALISES


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
        figure, axes = plt.subplots(
            1,
            2,
            figsize=(9.2, 1.9 + 0.19 * lines.size),
            sharey=True,
            layout="constrained",
        )
        for i, (way, (name, mark)) in enumerate(WAYS.items()):
            if way not in again:
                continue
            done = _reached(again, way)
            loss = np.maximum(again[way].values, FLOOR)
            share = 100 * again[f"{way}_signs"].values
            for ax, values in zip(axes, (loss, share), strict=True):
                for where, style in ((done, {"label": name}), (~done, {"mfc": "none"})):
                    ax.plot(
                        values[where],
                        lines[where] + 0.2 * (i - 1),
                        mark,
                        color=f"C{i}",
                        ms=6.5 - 1.2 * i,
                        alpha=0.85,
                        **style,
                    )
        axes[0].axvline(GENERALISES, color="C7", lw=0.8, ls=":")
        axes[0].set(xlabel="test loss (½ MSE a word)", xscale="log")
        axes[1].set(xlabel="negative entries of untaught blocks (%)")
        axes[1].set_xlim(left=-0.5)
        axes[0].set_yticks(lines, _names(again), fontsize=7)
        axes[0].set(ylabel="σ, fraction taught, seed", ylim=(lines.size - 0.4, -0.6))
        for ax in axes:
            ax.grid(axis="y", lw=0.3)
        figure.legend(
            *axes[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=len(WAYS),
            fontsize=8,
            frameon=False,
        )
        return figure

    ways = " and by exact flow" if "flow" in again else ""
    return Figure(
        "spikes",
        "The spikes, tried again",
        f"Connected cells of Figure 1 (diagonal mask) whose test loss is above 1e-3 though they reached the training loss, by height at each σ, and again by descent with a safe step{ways}. A spike that another way does not have came from the step; one that stays is real, and pieces of its graph hold the wrong sign (right). Open marks: the training loss was not reached. Dotted: 1e-3.",
        draw,
        again,
    )


def _reached(again: xr.Dataset, way: str) -> np.ndarray:
    """Where the training loss was reached; a spike of SGD has reached it."""
    if way == "sgd":
        return np.ones(again.sizes["cell"], dtype=bool)
    return again[f"{way}_ending"].values == 0


def _names(again: xr.Dataset) -> list[str]:
    return [
        f"{scale:g}, {fraction:.3f}, {int(seed)}"
        for scale, fraction, seed in zip(
            again.scale.values, again.fraction.values, again.seed.values, strict=True
        )
    ]
