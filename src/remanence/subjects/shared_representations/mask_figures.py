"""Pictures of Figure 1 under both masks, and of what is learned."""

from typing import Any

import numpy as np
import xarray as xr

from ...report import Figure
from .axes import FLOOR, panels
from .figure_one import by_scale, GENERALISES


MARKS = "os^vD"
"""One a seed, or one a σ."""
LOSS = "test loss (½ MSE a word)"


def figure_one_figure(
    diagonal: xr.Dataset, full: xr.Dataset, samples: xr.Dataset | None = None
) -> Figure:
    """Test loss over the fraction taught, a row a mask and a column a σ."""

    def draw() -> Any:
        import matplotlib.pyplot as plt

        scales = np.unique(np.concatenate([diagonal.scale, full.scale]))[::-1]
        figure, axes = plt.subplots(
            2,
            len(scales),
            figsize=(1.4 + 3.1 * len(scales), 6.0),
            sharex=True,
            sharey="row",
            squeeze=False,
            layout="constrained",
        )
        way = {"flow": "gradient flow"}.get(full.attrs.get("way", ""), "safe descent")
        for row, found, name in zip(
            axes,
            (diagonal, full),
            ("diagonal mask, SGD", f"full mask, {way}"),
            strict=True,
        ):
            row[0].set(ylabel=f"{name}\n{LOSS}", yscale="log")
            for ax, scale in zip(row, scales, strict=True):
                _runs(ax, found.where(found.scale == scale, drop=True))
        for ax, scale in zip(axes[0], scales, strict=True):
            ax.set(title=f"σ = {scale:g}")
            if samples is not None:
                _rings(ax, samples.where(samples.scale == scale, drop=True))
        for ax in axes[1]:
            ax.set(xlabel="fraction of pairs taught")
        seeds = np.unique(np.concatenate([diagonal.seed, full.seed])).astype(int)
        _legend_below(figure, seeds, rings=samples is not None)
        return figure

    rings = "" if samples is None else " Grey rings: the author's own cells."
    return Figure(
        "figure-1",
        "Figure 1, both masks",
        "Test loss on untaught pairs against the fraction taught; above the diagonal mask, below the full one, σ falling to the right, a colour and mark a seed. Filled: the graph of taught pairs is connected; open: it is not; crosses: runs that did not reach the training loss."
        + rings,
        draw,
        _with_author(_both(diagonal, full), samples),
    )


def _runs(ax: Any, found: xr.Dataset) -> None:
    """One line a seed; the mark says what became of the graph and of the run."""
    for seed in np.unique(found.seed).astype(int):
        part = found.where(found.seed == seed, drop=True).sortby("fraction")
        x, y = part.fraction.values, np.maximum(part.test_loss.values, FLOOR)
        colour, mark = f"C{seed % 7}", MARKS[seed % len(MARKS)]
        ax.plot(x, y, color=colour, lw=0.8, alpha=0.6)
        done, joined = part.ending.values == 0, part.connected.values == 1
        for where, style in (
            (done & joined, {"marker": mark}),
            (done & ~joined, {"marker": mark, "mfc": "none"}),
            (~done, {"marker": "x"}),
        ):
            ax.plot(x[where], y[where], color=colour, ls="", ms=4, **style)


def _rings(ax: Any, samples: xr.Dataset) -> None:
    """The author's losses are 2D times ours."""
    loss = np.maximum(samples.author_loss / (2 * samples.words), FLOOR)
    ax.plot(samples.fraction, loss, "o", color="C7", ms=9, mfc="none", mew=1.2)


def _legend_below(figure: Any, seeds: Any, *, rings: bool) -> None:
    """Colours are seeds, marks are what became of the graph and of the run."""
    from matplotlib.lines import Line2D

    named: dict[str, dict[str, Any]] = {
        f"seed {seed}": {"marker": MARKS[seed % len(MARKS)], "color": f"C{seed % 7}"}
        for seed in seeds
    }
    named |= {
        "connected": {"marker": "o"},
        "not connected": {"marker": "o", "mfc": "none"},
        "training loss not reached": {"marker": "x"},
    }
    if rings:
        named["the author's"] = {"marker": "o", "mfc": "none", "ms": 9}
    figure.legend(
        [
            Line2D([], [], **{"color": "C7", "ls": "", "ms": 4} | s)
            for s in named.values()
        ],
        list(named),
        loc="outside lower center",
        ncols=len(named) if len(named) <= 7 else -(-len(named) // 2),
        fontsize=8,
        frameon=False,
    )


def _both(diagonal: xr.Dataset, full: xr.Dataset) -> xr.Dataset:
    """The cells of both masks as one table that says which mask."""
    masks = ["diagonal"] * diagonal.sizes["cell"] + ["full"] * full.sizes["cell"]
    return xr.concat([diagonal, full], "cell").assign(mask=("cell", masks))


def _with_author(cells: xr.Dataset, samples: xr.Dataset | None) -> xr.Dataset:
    """The author's test loss, in our unit, beside the cells that he published."""
    if samples is None:
        return cells
    key = lambda c: (float(c.fraction), float(c.scale), int(c.seed))
    his = {
        key(c): float(c.author_loss / (2 * c.words))
        for c in (samples.isel(cell=i) for i in range(samples.sizes["cell"]))
    }
    rows = [cells.isel(cell=i) for i in range(cells.sizes["cell"])]
    return cells.assign(
        author_test_loss=(
            "cell",
            [his.get(key(c), np.nan) if c.mask == "diagonal" else np.nan for c in rows],
        )
    )


def accuracy_figure(diagonal: xr.Dataset, full: xr.Dataset) -> Figure:
    """What a low test loss means under either mask."""

    def draw() -> Any:
        figure, axes = panels(2)
        for i, (found, name) in enumerate(((diagonal, "diagonal"), (full, "full"))):
            for j, (scale, part) in enumerate(by_scale(found)):
                style = {
                    "color": f"C{i}",
                    "marker": MARKS[j],
                    "mfc": "none" if j else f"C{i}",
                    "label": f"{name}, σ = {scale:g}",
                }
                x = np.maximum(part.test_loss, FLOOR)
                for ax, seen in zip(axes, ("accuracy_untrained", "rank"), strict=True):
                    ax.semilogx(x, part[seen], ls="", ms=4, mew=0.8, **style)
        words = int(diagonal.words[0])
        axes[0].axhline(
            1 / words, color="C7", lw=0.8, ls=":", label="1/D: chance, D: full rank"
        )
        axes[1].axhline(words, color="C7", lw=0.8, ls=":")
        axes[0].set(xlabel=LOSS, ylabel="argmax accuracy, untaught pairs")
        axes[1].set(xlabel=LOSS, ylabel="rank of the product (participation)")
        figure.legend(
            *axes[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=4,
            fontsize=8,
            frameon=False,
        )
        return figure

    low = diagonal.accuracy_untrained.where(diagonal.test_loss < GENERALISES)
    best = float(low.fillna(0.0).max())
    names = ("mask", "fraction", "scale", "seed", "test_loss", "accuracy_untrained")
    return Figure(
        "what-is-learned",
        "What a low test loss means",
        f"Under the diagonal mask a network of rank near one brings the loss down without translating: where it is below 1e-3, {best:.0%} of the untaught words come out right at most. Under the full mask a low loss is a translation.",
        draw,
        _both(diagonal, full)[[*names, "rank"]],
    )
