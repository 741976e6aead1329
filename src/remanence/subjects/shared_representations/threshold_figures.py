"""Pictures of the threshold: connectivity decides, and how a smaller σ nears it."""

from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float
from scipy.stats import binomtest

from ...report import Figure
from .axes import FLOOR, panels
from .connectivity import probability_connected
from .figure_one import GENERALISES
from .half_way import half_way_by_scale, taught_share


BINS = np.linspace(0.16, 0.42, 9)


def _scales(found: xr.Dataset) -> tuple[float, ...]:
    return tuple(sorted(np.unique(found.scale.values).tolist(), reverse=True))


def _every_other(scales: tuple[float, ...]) -> tuple[float, ...]:
    """Half of many σ, the smallest among them, so that points can be told apart."""
    return scales[::-1][::2][::-1] if len(scales) > 3 else scales


def _against_connectivity(ax: Any, found: xr.Dataset, title: str) -> None:
    """Test loss over algebraic connectivity, one colour a σ."""
    for i, scale in enumerate(_every_other(_scales(found))):
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
    where = np.digitize(share, BINS)
    middle, part, low, high = [], [], [], []
    for b in np.unique(where):
        inside = hit[where == b]
        mean = inside.mean()
        ends = binomtest(int(inside.sum()), inside.size).proportion_ci(0.68, "wilson")
        middle.append(share[where == b].mean() + shift)
        part.append(mean)
        low.append(max(mean - ends.low, 0.0))
        high.append(max(ends.high - mean, 0.0))
    ax.errorbar(middle, part, [low, high], ms=4, lw=1, **style)


def _good(found: xr.Dataset) -> Bool[np.ndarray, " cell"]:
    return ((found.test_loss < GENERALISES) & (found.ending == 0)).values


def threshold_figure(graphs: xr.Dataset, wide: xr.Dataset) -> Figure:
    """Connectivity decides: H = D, H > D, and the curve that Figure 1 shows."""
    smallest = _scales(graphs)[-1]
    last = graphs.isel(cell=np.flatnonzero(graphs.scale == smallest))
    stuck = [int((found.ending != 0).sum()) for found in (graphs, wide, last)]

    def draw() -> Any:
        figure, axes = panels(3)
        _against_connectivity(
            axes[0], graphs.where(graphs.ending == 0, drop=True), "H = D"
        )
        _against_connectivity(axes[1], wide.where(wide.ending == 0, drop=True), "H > D")
        _chance(axes[2])
        share, joined = taught_share(last), last.connected.values == 1
        _shares(
            axes[2],
            share,
            joined,
            fmt="C0s",
            mfc="none",
            label="these graphs, connected",
        )
        _shares(
            axes[2],
            share,
            _good(last),
            shift=0.004,
            fmt="C1o",
            label=f"runs that generalise, σ = {smallest:g}",
        )
        axes[2].set_title("H = D, all runs")
        for ax in axes:
            ax.legend(fontsize=8)
        return figure

    return Figure(
        "threshold",
        "The threshold is connectivity",
        f"Full mask. Left and middle: runs that reach the training loss; {stuck[0]} of {graphs.sizes['cell']} (H = D) and {stuck[1]} of {wide.sizes['cell']} (H > D) do not and are left out. With H = D every connected graph then generalises and no other, at any σ; with H > D no disconnected one does, and of the connected ones more the smaller σ is (of many σ every other is shown). Right: all {last.sizes['cell']} graphs with H = D at the smallest σ, none left out: the share that is connected, beside the exact chance for random pairs, and the share of runs that generalise. The two differ by connected runs among the {stuck[2]} that did not reach the training loss. Bars are Wilson intervals of 68 %.",
        draw,
        xr.concat([graphs, wide], "cell"),
    )


def wide_threshold_figure(wide: xr.Dataset) -> Figure:
    """H > D: the share that generalises by σ, and the threshold's way down."""
    scales = _scales(wide)
    found = half_way_by_scale(wide, scales)
    count = int(np.unique(wide.seed).size)

    def draw() -> Any:
        figure, axes = panels(2)
        _chance(axes[0])
        shown = _every_other(scales)
        for i, scale in enumerate(shown):
            part = wide.isel(cell=np.flatnonzero(wide.scale == scale))
            shift = 0.002 * (i - (len(shown) - 1) / 2)
            style = {"fmt": f"C{i}o-", "label": f"σ = {scale:g}", "shift": shift}
            _shares(axes[0], taught_share(part), _good(part), **style)
        axes[0].set_title("runs that generalise")
        known = np.isfinite(found.thresholds) & np.isfinite(found.errors)
        at = lambda values: np.array(values)[known]
        axes[1].errorbar(
            at(scales),
            at(found.thresholds),
            at(found.errors),
            fmt="C0o-",
            ms=4,
            lw=1,
            label="half of the runs generalise",
        )
        middle, error = found.connected, found.connected_error
        axes[1].axhspan(middle - error, middle + error, color="C7", alpha=0.25, lw=0)
        axes[1].axhline(middle, color="C7", label="half of these graphs are connected")
        axes[1].set(
            xscale="log",
            xlabel="σ",
            ylabel="fraction of pairs taught",
            title="threshold",
        )
        axes[0].legend(fontsize=8, loc="upper left")
        axes[1].legend(fontsize=8, loc="upper left")
        return figure

    unknown = [
        f"{s:g}"
        for s, t in zip(scales, found.thresholds, strict=True)
        if not np.isfinite(t)
    ]
    missing = (
        f" At σ = {', '.join(unknown)} it lies above all that was taught."
        if unknown
        else ""
    )
    return Figure(
        "wide-threshold",
        "With H > D a smaller σ moves the threshold towards connectivity",
        f"Full mask, H > D, the same {count} graphs at every σ. Left: the share of all runs that generalise (one that did not reach the training loss does not; of many σ every other is shown), beside the exact chance that random pairs are connected; bars are Wilson intervals of 68 %. Right: where half of the runs generalise, by a logistic fit, with errors from drawing the graphs again; grey: where half of these graphs are connected.{missing}",
        draw,
        xr.Dataset(
            {
                "threshold": ("scale", found.thresholds),
                "threshold_error": ("scale", found.errors),
                "above_connectivity": ("scale", found.above),
                "above_error": ("scale", found.above_errors),
                "connected": found.connected,
                "connected_error": found.connected_error,
            },
            {"scale": list(scales)},
        ),
    )
