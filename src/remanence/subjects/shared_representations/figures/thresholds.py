"""Pictures of the threshold: connectivity decides, and how a smaller σ nears it."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from scipy.stats import binomtest

from ....report import Figure
from ..connectivity import probability_connected
from ..random_graphs import fresh_graphs, taught_share, thresholds_by_scale
from ..training_cells import by_scale, generalises
from .both_masks import FLOOR


BINS = np.linspace(0.16, 0.42, 9)


def _plot_shares(ax: Any, found: xr.Dataset, hit: np.ndarray, shift: float, **style: Any) -> None:
    """The part of the graphs in each bin of the fraction, with Wilson intervals of 68 %."""
    share = taught_share(found)
    where, rows = np.digitize(share, BINS), []
    for b in np.unique(where):
        inside = hit[where == b]
        ends = binomtest(int(inside.sum()), inside.size).proportion_ci(0.68, "wilson")
        mean = np.clip(inside.mean(), ends.low, ends.high)
        rows.append((share[where == b].mean() + shift, mean, mean - ends.low, ends.high - mean))
    middle, part, low, high = zip(*rows, strict=True)
    ax.errorbar(middle, part, [low, high], ms=4, lw=1, **style)


def threshold_figure(graphs: xr.Dataset, wide: xr.Dataset) -> Figure:
    """Connectivity decides: H = D, H > D, and the curve that Figure 1 shows."""
    smallest, last = list(by_scale(graphs).items())[-1]
    stuck = [int((found.ending != 0).sum()) for found in (graphs, wide, last)]

    def draw() -> Any:
        figure, axes = plt.subplots(1, 3, figsize=(13.8, 3.6), layout="constrained")
        for ax, found, title in zip(axes[:2], (graphs, wide), ("H = D", "H > D"), strict=True):
            done = found.isel(cell=np.flatnonzero(found.ending == 0))
            for i, (scale, part) in enumerate(by_scale(done).items()):
                style: Any = {"ms": 3, "alpha": 0.7, "label": f"σ = {scale:g}"}
                ax.semilogy(part.algebraic, np.maximum(part.test_loss, FLOOR), f"C{i}o", **style)
            ax.axvline(0, color="C7", lw=0.8, ls=":")
            ax.set(xlabel="algebraic connectivity of T", ylabel="test loss", title=title)
        pairs = np.arange(14, 44)
        chance = [probability_connected(10, int(n)) for n in pairs]
        axes[2].plot(pairs / 100, chance, "C7", lw=1.5, label="P(connected), exact")
        known: Any = {"fmt": "C0s", "mfc": "none", "label": "these graphs, connected"}
        _plot_shares(axes[2], last, last.connected.values == 1, 0.0, **known)
        runs: Any = {"fmt": "C1o", "label": f"runs that generalise, σ = {smallest:g}"}
        _plot_shares(axes[2], last, generalises(last).values, 0.004, **runs)
        axes[2].set(xlabel="fraction of pairs taught", ylabel="probability", ylim=(-0.03, 1.05))
        axes[2].set_title("H = D, all runs")
        for ax in axes:
            ax.legend(fontsize=8)
        return figure

    return Figure(
        "threshold",
        "The threshold is connectivity",
        f"Full mask. Left and middle: runs that reach the training loss; {stuck[0]} of {graphs.sizes['cell']} (H = D) and {stuck[1]} of {wide.sizes['cell']} (H > D) do not and are left out. With H = D every connected graph then generalises and no other, at any σ; with H > D no disconnected one does, and of the connected ones more the smaller σ is. Right: all {last.sizes['cell']} graphs with H = D at the smallest σ, none left out: the share that is connected, beside the exact chance for random pairs, and the share of runs that generalise. The two differ by connected runs among the {stuck[2]} that did not reach the training loss. Bars are Wilson intervals of 68 %.",
        draw,
        xr.concat([graphs, wide], "cell", combine_attrs="drop_conflicts"),
    )


def wide_threshold_figure(wide: xr.Dataset) -> Figure:
    """H > D: how the threshold comes down with σ, on the graphs that are judged."""
    wide = fresh_graphs(wide)
    found, count = thresholds_by_scale(wide), int(np.unique(wide.seed).size)

    def draw() -> Any:
        figure, ax = plt.subplots(figsize=(4.6, 3.6), layout="constrained")
        known = found.isel(scale=np.flatnonzero(np.isfinite(found.threshold_error)))
        style: Any = {"fmt": "C0o-", "ms": 4, "lw": 1, "label": "half of the runs generalise"}
        ax.errorbar(known.scale, known.threshold, known.threshold_error, **style)
        middle, error = float(found.connected), float(found.connected_error)
        ax.axhspan(middle - error, middle + error, color="C7", alpha=0.25, lw=0)
        ax.axhline(middle, color="C7", label="half of these graphs are connected")
        ax.set(xscale="log", xlabel="σ", ylabel="fraction of pairs taught")
        ax.legend(fontsize=8, loc="upper left")
        return figure

    unknown = ", ".join(f"{s:g}" for s in found.scale.values[~np.isfinite(found.threshold)])
    missing = f" At σ = {unknown} it lies above all that was taught." if unknown else ""
    return Figure(
        "wide-threshold",
        "With H > D a smaller σ moves the threshold towards connectivity",
        f"Full mask, H > D, the same {count} graphs at every σ: where half of all runs generalise (one that did not reach the training loss does not), by a logistic fit, with errors from drawing the graphs again; grey: where half of these graphs are connected.{missing}",
        draw,
        found,
    )
