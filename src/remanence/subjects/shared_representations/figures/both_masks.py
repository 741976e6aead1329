"""Pictures of Figure 1 under both masks, and of what is learned."""

from typing import Any

import numpy as np
import xarray as xr

from ....report import Figure
from ..training_cells import by_scale, GENERALISES
from .panels import FLOOR, legend_below, LOSS, panels


MARKS = "os^vD"
"""One a seed, or one a σ."""
KINDS: dict[str, dict[str, Any]] = {
    "connected": {},
    "not connected": {"mfc": "none"},
    "training loss not reached": {"marker": "x"},
}


def figure_one_figure(
    diagonal: xr.Dataset, full: xr.Dataset, author: xr.Dataset | None = None
) -> Figure:
    """Test loss over the fraction taught, a row a mask and a column a σ.

    The author's cells are rings in it, if the grid has networks of their size.
    """
    if author is not None and author.words[0] != diagonal.words[0]:
        author = None

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
        names = ("diagonal mask, SGD", f"full mask, {way}")
        for row, found, name in zip(axes, (diagonal, full), names, strict=True):
            row[0].set(ylabel=f"{name}\n{LOSS}", yscale="log")
            for ax, scale in zip(row, scales, strict=True):
                _runs(ax, found.where(found.scale == scale, drop=True))
        for ax, scale in zip(axes[0], scales, strict=True):
            ax.set(title=f"σ = {scale:g}")
            if author is not None:
                his = author.where(author.scale == scale, drop=True)
                loss = np.maximum(his.author_loss / (2 * his.words), FLOOR)
                rings = {"color": "C7", "ms": 9, "mfc": "none", "mew": 1.2}
                ax.plot(his.fraction, loss, "o", label="the author's", **rings)
        for ax in axes[1]:
            ax.set(xlabel="fraction of pairs taught")
        for name, style in KINDS.items():
            axes[0, 0].plot([], [], label=name, **{"color": "C7", "ls": "", "marker": "o"} | style)
        legend_below(figure, *axes[0, 0].get_legend_handles_labels(), columns=4)
        return figure

    rings = "" if author is None else " Grey rings: the author's own cells."
    return Figure(
        "figure-1",
        "Figure 1, both masks",
        "Test loss on untaught pairs against the fraction taught; above the diagonal mask, below the full one, σ falling to the right, a colour and mark a seed. Filled: the graph of taught pairs is connected; open: it is not; crosses: runs that did not reach the training loss."
        + rings,
        draw,
        _both(diagonal, full),
    )


def _runs(ax: Any, found: xr.Dataset) -> None:
    """One line a seed; the mark says what became of the graph and of the run."""
    for seed in np.unique(found.seed).astype(int):
        part = found.where(found.seed == seed, drop=True).sortby("fraction")
        x, y = part.fraction.values, np.maximum(part.test_loss.values, FLOOR)
        colour, mark = f"C{seed % 7}", MARKS[seed % len(MARKS)]
        ax.plot(x, y, color=colour, lw=0.8, alpha=0.6)
        done, joined = part.ending.values == 0, part.connected.values == 1
        kinds = (done & joined, done & ~joined, ~done)
        for where, style in zip(kinds, KINDS.values(), strict=True):
            style = {"color": colour, "ls": "", "ms": 4, "marker": mark} | style
            ax.plot(x[where], y[where], **style)


def _both(diagonal: xr.Dataset, full: xr.Dataset) -> xr.Dataset:
    """The cells of both masks as one table that says which mask."""
    masks = ["diagonal"] * diagonal.sizes["cell"] + ["full"] * full.sizes["cell"]
    both = xr.concat([diagonal, full], "cell", combine_attrs="drop_conflicts")
    return both.assign(mask=("cell", masks))


def accuracy_figure(diagonal: xr.Dataset, full: xr.Dataset) -> Figure:
    """What a low test loss means under either mask."""

    def draw() -> Any:
        figure, axes = panels(2)
        for i, (found, name) in enumerate(((diagonal, "diagonal"), (full, "full"))):
            for j, (scale, part) in enumerate(by_scale(found).items()):
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
        chance = {"color": "C7", "lw": 0.8, "ls": ":"}
        axes[0].axhline(1 / words, label="1/D: chance, D: full rank", **chance)
        axes[1].axhline(words, **chance)
        axes[0].set(xlabel=LOSS, ylabel="argmax accuracy, untaught pairs")
        axes[1].set(xlabel=LOSS, ylabel="rank of the product (participation)")
        legend_below(figure, *axes[0].get_legend_handles_labels(), columns=4)
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
