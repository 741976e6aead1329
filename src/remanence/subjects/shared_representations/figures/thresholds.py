"""Pictures of the threshold: connectivity decides, and how a smaller σ nears it."""

from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from scipy.stats import binomtest

from ....report import Figure
from ..connectivity import probability_connected
from ..random_graphs import taught_share, thresholds_by_scale
from ..training_cells import by_scale, generalises
from .both_masks import FLOOR, panels


BINS = np.linspace(0.16, 0.42, 9)


def _shown(found: xr.Dataset) -> dict[float, xr.Dataset]:
    """Half of many σ, the smallest among them, so that points can be told apart."""
    parts = by_scale(found)
    scales = list(parts)[::-1][::2][::-1] if len(parts) > 3 else list(parts)
    return {scale: parts[scale] for scale in scales}


def _chance(ax: Any) -> None:
    """The exact chance that random pairs are connected."""
    pairs = np.arange(10, 46)
    chance = [probability_connected(10, int(n)) for n in pairs]
    ax.plot(pairs / 100, chance, "C7", lw=1.5, label="P(connected), exact")
    ax.set(xlabel="fraction of pairs taught", ylabel="probability", ylim=(-0.03, 1.05))
    ax.set_xlim(0.14, 0.43)


def _shares(
    ax: Any,
    share: Float[np.ndarray, " graphs"],
    hit: Bool[np.ndarray, " graphs"],
    *,
    shift: float = 0.0,
    **style: Any,
) -> None:
    """The part of the graphs in each bin, with Wilson intervals of 68 %."""
    where, rows = np.digitize(share, BINS), []
    for b in np.unique(where):
        inside = hit[where == b]
        mean = inside.mean()
        ends = binomtest(int(inside.sum()), inside.size).proportion_ci(0.68, "wilson")
        below, above = max(mean - ends.low, 0.0), max(ends.high - mean, 0.0)
        rows.append((share[where == b].mean() + shift, mean, below, above))
    middle, part, low, high = zip(*rows, strict=True)
    ax.errorbar(middle, part, [low, high], ms=4, lw=1, **style)


def threshold_figure(graphs: xr.Dataset, wide: xr.Dataset) -> Figure:
    """Connectivity decides: H = D, H > D, and the curve that Figure 1 shows."""
    smallest, last = list(by_scale(graphs).items())[-1]
    stuck = [int((found.ending != 0).sum()) for found in (graphs, wide, last)]

    def draw() -> Any:
        figure, axes = panels(1, 3, size=(13.8, 3.6))
        for ax, found, title in zip(axes[:2], (graphs, wide), ("H = D", "H > D"), strict=True):
            done = found.isel(cell=np.flatnonzero(found.ending == 0))
            for i, (scale, part) in enumerate(_shown(done).items()):
                style = {"ms": 3, "alpha": 0.7, "label": f"σ = {scale:g}"}
                ax.semilogy(part.algebraic, np.maximum(part.test_loss, FLOOR), f"C{i}o", **style)
            ax.axvline(0, color="C7", lw=0.8, ls=":")
            ax.set(xlabel="algebraic connectivity of T", ylabel="test loss", title=title)
        _chance(axes[2])
        share, joined = taught_share(last), last.connected.values == 1
        known: Any = {"fmt": "C0s", "mfc": "none", "label": "these graphs, connected"}
        _shares(axes[2], share, joined, **known)
        runs: Any = {"fmt": "C1o", "label": f"runs that generalise, σ = {smallest:g}"}
        _shares(axes[2], share, generalises(last).values, shift=0.004, **runs)
        axes[2].set_title("H = D, all runs")
        for ax in axes:
            ax.legend(fontsize=8)
        return figure

    return Figure(
        "threshold",
        "The threshold is connectivity",
        f"Full mask. Left and middle: runs that reach the training loss; {stuck[0]} of {graphs.sizes['cell']} (H = D) and {stuck[1]} of {wide.sizes['cell']} (H > D) do not and are left out. With H = D every connected graph then generalises and no other, at any σ; with H > D no disconnected one does, and of the connected ones more the smaller σ is (of many σ every other is shown). Right: all {last.sizes['cell']} graphs with H = D at the smallest σ, none left out: the share that is connected, beside the exact chance for random pairs, and the share of runs that generalise. The two differ by connected runs among the {stuck[2]} that did not reach the training loss. Bars are Wilson intervals of 68 %.",
        draw,
        xr.concat([graphs, wide], "cell", combine_attrs="drop_conflicts"),
    )


def wide_threshold_figure(wide: xr.Dataset) -> Figure:
    """H > D: the share that generalises by σ, and the threshold's way down."""
    found, count = thresholds_by_scale(wide), int(np.unique(wide.seed).size)

    def draw() -> Any:
        figure, axes = panels(1, 2, size=(9.2, 3.6))
        _chance(axes[0])
        for i, (scale, part) in enumerate(_shown(wide).items()):
            style = {"fmt": f"C{i}o-", "label": f"σ = {scale:g}", "shift": 0.002 * i}
            _shares(axes[0], taught_share(part), generalises(part).values, **style)
        axes[0].set_title("runs that generalise")
        known = found.isel(scale=np.flatnonzero(np.isfinite(found.threshold_error)))
        style = {"fmt": "C0o-", "ms": 4, "lw": 1, "label": "half of the runs generalise"}
        axes[1].errorbar(known.scale, known.threshold, known.threshold_error, **style)
        middle, error = float(found.connected), float(found.connected_error)
        axes[1].axhspan(middle - error, middle + error, color="C7", alpha=0.25, lw=0)
        axes[1].axhline(middle, color="C7", label="half of these graphs are connected")
        axes[1].set(xscale="log", xlabel="σ", ylabel="fraction of pairs taught")
        axes[1].set_title("threshold")
        for ax in axes:
            ax.legend(fontsize=8, loc="upper left")
        return figure

    unknown = ", ".join(f"{s:g}" for s in found.scale.values[~np.isfinite(found.threshold)])
    missing = f" At σ = {unknown} it lies above all that was taught." if unknown else ""
    return Figure(
        "wide-threshold",
        "With H > D a smaller σ moves the threshold towards connectivity",
        f"Full mask, H > D, the same {count} graphs at every σ. Left: the share of all runs that generalise (one that did not reach the training loss does not; of many σ every other is shown), beside the exact chance that random pairs are connected; bars are Wilson intervals of 68 %. Right: where half of the runs generalise, by a logistic fit, with errors from drawing the graphs again; grey: where half of these graphs are connected.{missing}",
        draw,
        found,
    )
