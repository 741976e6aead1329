"""The picture of the threshold."""

from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import binomtest

from ...measure.connectivity import probability_connected
from ...report import Figure
from .axes import FLOOR, panels
from .figure_one import GENERALISES


def _against_connectivity(ax: Any, found: xr.Dataset, title: str) -> None:
    """Test loss over algebraic connectivity, one colour a σ."""
    for i, scale in enumerate(sorted(np.unique(found.scale))[::-1]):
        part = found.where(found.scale == scale, drop=True)
        ax.semilogy(
            part.algebraic,
            np.maximum(part.test_loss, FLOOR),
            f"C{i}o",
            ms=3,
            alpha=0.7,
            label=f"σ = {scale:g}",
        )
    ax.axvline(0, color="C7", lw=0.8, ls=":")
    ax.set(xlabel="algebraic connectivity of T", ylabel="test loss", title=title)


def _against_chance(ax: Any, found: xr.Dataset) -> None:
    """The share that generalises beside the exact chance of being connected."""
    pairs = np.arange(10, 46)
    ax.plot(
        pairs / 100,
        [probability_connected(10, int(n)) for n in pairs],
        "C0",
        label="P(connected), exact",
    )
    # One run a graph: those at other σ are the same draw of pairs, not another one.
    found = found.isel(cell=np.unique(found.seed.values, return_index=True)[1])
    where = np.digitize(found.fraction, np.linspace(0.16, 0.42, 9))
    middle, share, low, high = [], [], [], []
    for b in np.unique(where):
        hit = (found.test_loss.values < GENERALISES)[where == b]
        middle.append(float(found.fraction.values[where == b].mean()))
        share.append(hit.mean())
        ends = binomtest(int(hit.sum()), hit.size).proportion_ci(0.68, "wilson")
        low.append(max(hit.mean() - ends.low, 0.0))
        high.append(max(ends.high - hit.mean(), 0.0))
    error = [low, high]
    ax.errorbar(middle, share, error, fmt="C1o", ms=4, label="share that generalises")
    ax.set(xlabel="fraction of pairs taught", ylabel="probability", ylim=(-0.03, 1.05))


def threshold_figure(graphs: xr.Dataset, wide: xr.Dataset) -> Figure:
    """Connectivity decides: H = D, H > D, and the curve that Figure 1 shows."""

    def draw() -> Any:
        figure, axes = panels(3)
        done = graphs.where(graphs.ending == 0, drop=True)
        _against_connectivity(axes[0], done, "H = D")
        _against_connectivity(axes[1], wide.where(wide.ending == 0, drop=True), "H > D")
        _against_chance(axes[2], done)
        for ax in axes:
            ax.legend(fontsize=8)
        return figure

    return Figure(
        "threshold",
        "The threshold is connectivity",
        "Full mask; runs that reach the training loss. Left: with H = D every connected graph generalises and no other, at any σ. Middle: with H > D the connected ones do once σ is small. Right: the share of these graphs that generalise (one run a graph), beside the chance that random pairs are connected, the curve that Figure 1 shows; bars are Wilson intervals of 68 %.",
        draw,
        xr.concat([graphs, wide], "cell"),
    )
