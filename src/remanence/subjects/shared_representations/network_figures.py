"""Pictures of networks: Figure 1 under both masks, what is learned, spikes, the threshold."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from scipy.stats import binomtest

from ...report import Figure, figure
from .language_pairs import probability_connected
from .random_graphs import fresh_graphs, taught_share, thresholds_by_scale
from .training_cells import by_scale, GENERALISES, generalises


FLOOR = 1e-12  # losses below are drawn here: rounding, not learning
LOSS = "test loss (½ MSE a word)"
MARKS = "os^vD"  # one a seed, or one a σ
BINS = np.linspace(0.16, 0.42, 9)
LEGEND: Any = {"loc": "outside lower center", "fontsize": 8, "frameon": False, "ncols": 4}
KINDS: dict[str, dict[str, Any]] = {
    "connected": {},
    "not connected": {"mfc": "none"},
    "training loss not reached": {"marker": "x"},
}


def _both(diagonal: xr.Dataset, full: xr.Dataset) -> xr.Dataset:
    """The cells of both masks as one table that says which mask."""
    masks = ["diagonal"] * diagonal.sizes["cell"] + ["full"] * full.sizes["cell"]
    both = xr.concat([diagonal, full], "cell", combine_attrs="drop_conflicts")
    return both.assign(mask=("cell", masks))


def _plot_runs(ax: Any, found: xr.Dataset) -> None:
    """One line a seed; the mark says what became of the graph and of the run."""
    for seed, part in found.groupby("seed"):
        part = part.sortby("fraction")
        x, y = part.fraction.values, np.maximum(part.test_loss.values, FLOOR)
        colour, mark = f"C{int(seed) % 7}", MARKS[int(seed) % len(MARKS)]
        ax.plot(x, y, color=colour, lw=0.8, alpha=0.6)
        done, joined = part.ending.values == 0, part.connected.values == 1
        kinds = (done & joined, done & ~joined, ~done)
        for where, style in zip(kinds, KINDS.values(), strict=True):
            usual = {"color": colour, "ls": "", "ms": 4, "marker": mark}
            ax.plot(x[where], y[where], **usual | style)


def figure_one_figure(
    diagonal: xr.Dataset, full: xr.Dataset, author: xr.Dataset | None = None
) -> Figure:
    """Test loss over the fraction taught, a row a mask and a column a σ; the author's cells are
    rings in it, if the grid has networks of their size."""
    if author is not None and author.words[0] != diagonal.words[0]:
        author = None

    def draw() -> Any:
        scales = np.unique(np.concatenate([diagonal.scale, full.scale]))[::-1]
        size = (1.4 + 3.1 * len(scales), 6.0)
        shared: Any = {"sharex": True, "sharey": "row", "squeeze": False, "layout": "constrained"}
        figure, axes = plt.subplots(2, len(scales), figsize=size, **shared)
        names = ("diagonal mask, SGD", "full mask, gradient flow")
        for row, found, name in zip(axes, (diagonal, full), names, strict=True):
            row[0].set(ylabel=f"{name}\n{LOSS}", yscale="log")
            parts = by_scale(found)
            for ax, scale in zip(row, scales, strict=True):
                if scale in parts:
                    _plot_runs(ax, parts[scale])
        for ax, below, scale in zip(*axes, scales, strict=True):
            ax.set(title=f"σ = {scale:g}")
            below.set(xlabel="fraction of pairs taught")
            if author is not None:
                his = author.where(author.scale == scale, drop=True)
                loss = np.maximum(his.author_loss / (2 * his.words), FLOOR)
                rings: Any = {"color": "C7", "ms": 9, "mfc": "none", "mew": 1.2}
                ax.plot(his.fraction, loss, "o", label="the author's", **rings)
        usual = {"color": "C7", "ls": "", "marker": "o"}
        for name, style in KINDS.items():
            axes[0, 0].plot([], [], label=name, **usual | style)
        figure.legend(*axes[0, 0].get_legend_handles_labels(), **LEGEND)
        return figure

    rings = "" if author is None else " Grey rings: the author's own cells."
    return Figure(
        "figure-1",
        "Figure 1, both masks",
        "Test loss on untaught pairs against the fraction taught; above the diagonal mask, below the full one, σ falling to the right, one colour and mark per seed. Filled: the graph of taught pairs is connected; open: it is not; crosses: runs that did not reach the training loss."
        + rings,
        draw,
        _both(diagonal, full),
    )


def accuracy_figure(diagonal: xr.Dataset, full: xr.Dataset) -> Figure:
    """What a low test loss means under either mask."""

    def draw() -> Any:
        figure, axes = plt.subplots(1, 2, figsize=(9.2, 3.6), layout="constrained")
        chance = (1 / int(diagonal.words[0]), int(diagonal.words[0]))
        names = ("argmax accuracy, untaught pairs", "rank of the product (participation)")
        panels = zip(axes, ("accuracy_untrained", "rank"), chance, names, strict=True)
        for ax, seen, level, name in panels:
            for i, (mask, found) in enumerate((("diagonal", diagonal), ("full", full))):
                for j, (scale, part) in enumerate(by_scale(found).items()):
                    style: Any = {"mew": 0.8, "mfc": "none" if j else f"C{i}", "ms": 4}
                    style["label"] = f"{mask}, σ = {scale:g}"
                    x = np.maximum(part.test_loss, FLOOR)
                    ax.semilogx(x, part[seen], f"C{i}{MARKS[j]}", **style)
            ax.axhline(level, color="C7", lw=0.8, ls=":", label="1/D: chance, D: full rank")
            ax.set(xlabel=LOSS, ylabel=name)
        figure.legend(*axes[0].get_legend_handles_labels(), **LEGEND)
        return figure

    low = diagonal.accuracy_untrained.where(diagonal.test_loss < GENERALISES)
    best = float(low.fillna(0.0).max())
    names = ["mask", "fraction", "scale", "seed", "test_loss", "accuracy_untrained", "rank"]
    return Figure(
        "what-is-learned",
        "What a low test loss means",
        f"Under the diagonal mask a network of rank near one brings the loss down without translating: where it is below 1e-3, {best:.0%} of the untaught words come out right at most. Under the full mask a low loss is a translation.",
        draw,
        _both(diagonal, full)[names],
    )


@figure(
    "spikes",
    "The spikes, tried again",
    "Connected cells of Figure 1 (diagonal mask) whose test loss is above 1e-3 though they reached the training loss, by height at each σ, and again by exact flow. A spike that the flow does not have came from the step; one that stays is real, and pieces of its graph hold the wrong sign (right). Open marks: the training loss was not reached. Dotted: 1e-3.",
)
def spikes_figure(again: xr.Dataset) -> Any:
    """A line a spike: its test loss by SGD and by the flow, and its negative entries."""
    lines = np.arange(again.sizes["cell"])
    size = (9.2, 1.9 + 0.19 * lines.size)
    drawing, axes = plt.subplots(1, 2, figsize=size, sharey=True, layout="constrained")
    reached = again["flow_ending"].values == 0
    ways = {"sgd": ("the document's SGD", True | reached), "flow": ("exact flow", reached)}
    for i, (way, (name, done)) in enumerate(ways.items()):
        style: Any = {"color": f"C{i}", "ms": 6.5 - 1.2 * i, "alpha": 0.85}
        at = lines + 0.2 * (i - 0.5)
        loss, share = np.maximum(again[way].values, FLOOR), 100 * again[f"{way}_signs"].values
        for ax, values in zip(axes, (loss, share), strict=True):
            ax.plot(values[done], at[done], MARKS[i], label=name, **style)
            ax.plot(values[~done], at[~done], MARKS[i], mfc="none", **style)
    axes[0].axvline(GENERALISES, color="C7", lw=0.8, ls=":")
    axes[1].set(xlabel="negative entries of untaught blocks (%)", xlim=(-0.5, None))
    columns = zip(*(again[n].values for n in ("scale", "fraction", "seed")), strict=True)
    cells = [f"{scale:g}, {frac:.3f}, {int(seed)}" for scale, frac, seed in columns]
    axes[0].set_yticks(lines, cells, fontsize=7)
    axes[0].set(xlabel=LOSS, xscale="log", ylabel="σ, fraction taught, seed")
    axes[0].set(ylim=(lines.size - 0.4, -0.6))
    drawing.legend(*axes[0].get_legend_handles_labels(), **LEGEND)
    return drawing


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


def threshold_figure(graphs: xr.Dataset) -> Figure:
    """Connectivity decides for H = D, and gives the curve that Figure 1 shows."""
    smallest, last = list(by_scale(graphs).items())[-1]
    stuck = [int((found.ending != 0).sum()) for found in (graphs, last)]

    def draw() -> Any:
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.6), layout="constrained")
        done = graphs.isel(cell=np.flatnonzero(graphs.ending == 0))
        for i, (scale, part) in enumerate(by_scale(done).items()):
            style: Any = {"ms": 3, "alpha": 0.7, "label": f"σ = {scale:g}"}
            left.semilogy(part.algebraic, np.maximum(part.test_loss, FLOOR), f"C{i}o", **style)
        left.axvline(0, color="C7", lw=0.8, ls=":")
        left.set(xlabel="algebraic connectivity of T", ylabel="test loss", title="H = D")
        pairs = np.arange(14, 44)
        chance = [probability_connected(10, int(n)) for n in pairs]
        right.plot(pairs / 100, chance, "C7", lw=1.5, label="P(connected), exact")
        known: Any = {"fmt": "C0s", "mfc": "none", "label": "these graphs, connected"}
        _plot_shares(right, last, last.connected.values == 1, 0.0, **known)
        runs: Any = {"fmt": "C1o", "label": f"runs that generalise, σ = {smallest:g}"}
        _plot_shares(right, last, generalises(last).values, 0.004, **runs)
        right.set(xlabel="fraction of pairs taught", ylabel="probability", ylim=(-0.03, 1.05))
        right.set_title("H = D, all runs")
        for ax in (left, right):
            ax.legend(fontsize=8)
        return figure

    return Figure(
        "threshold",
        "The threshold is connectivity",
        f"Full mask, H = D. Left: runs that reach the training loss; {stuck[0]} of {graphs.sizes['cell']} do not and are left out. Every connected graph then generalises and no other, at any σ. Right: all {last.sizes['cell']} graphs at the smallest σ, none left out: the share that is connected, beside the exact chance for random pairs, and the share of runs that generalise. The two differ by connected runs among the {stuck[1]} that did not reach the training loss. Bars are Wilson intervals of 68 %.",
        draw,
        graphs,
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
