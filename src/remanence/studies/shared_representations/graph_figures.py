"""Pictures of Figure 1 and of what is learned."""

from typing import Any

import numpy as np
import xarray as xr

from ...report import Figure
from .axes import FLOOR, panels


def figure_one_figure(diagonal: xr.Dataset, full: xr.Dataset) -> Figure:
    """Test loss over the fraction taught, connectivity marked."""

    def draw() -> Any:
        figure, axes = panels(2)
        for ax, found, name in zip(
            axes,
            (diagonal, full),
            ("diagonal mask, SGD", f"full mask, {full.attrs.get('way', 'flow')}"),
            strict=True,
        ):
            for i, scale in enumerate(sorted(np.unique(found.scale))[::-1]):
                for j, seed in enumerate(np.unique(found.seed)):
                    part = found.where(
                        (found.scale == scale) & (found.seed == seed), drop=True
                    )
                    part = part.sortby("fraction")
                    y = np.maximum(part.test_loss.values, FLOOR)
                    label = f"σ = {scale:g}" if j == 0 else None
                    ax.semilogy(
                        part.fraction, y, f"C{i}-", lw=0.8, alpha=0.6, label=label
                    )
                    done = part.ending.values == 0
                    joined = part.connected.values == 1
                    for where, style in (
                        (done & joined, {"marker": "o"}),
                        (done & ~joined, {"marker": "o", "mfc": "none"}),
                        (~done, {"marker": "x"}),
                    ):
                        x = part.fraction.values[where]
                        ax.plot(x, y[where], color=f"C{i}", ls="", ms=4.5, **style)
            ax.set(
                title=name,
                xlabel="fraction of pairs taught",
                ylabel="test loss (½ MSE a word)",
            )
            ax.locator_params(axis="x", nbins=5)
        _legend_below(figure, axes)
        return figure

    return Figure(
        "figure-1",
        "Figure 1, both masks",
        "Test loss on untaught pairs against the fraction taught. Filled points: the graph of taught pairs is connected; open: it is not; crosses: runs that did not reach the training loss. One line a seed.",
        draw,
        xr.concat([diagonal, full], "cell").assign(
            mask=(
                "cell",
                ["diagonal"] * diagonal.sizes["cell"] + ["full"] * full.sizes["cell"],
            )
        ),
    )


def _legend_below(figure: Any, axes: Any) -> None:
    """Colours are σ, marks are what became of the graph and of the run."""
    from matplotlib.lines import Line2D

    named = {}
    for ax in axes:
        named |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    marks: dict[str, dict[str, Any]] = {
        "connected": {"marker": "o"},
        "not connected": {"marker": "o", "mfc": "none"},
        "training loss not reached": {"marker": "x"},
    }
    named |= {
        name: Line2D([], [], color="C7", ls="", ms=4.5, **style)
        for name, style in marks.items()
    }
    figure.legend(
        list(named.values()),
        list(named),
        loc="outside lower center",
        ncols=len(named),
        fontsize=8,
        frameon=False,
    )


def accuracy_figure(diagonal: xr.Dataset, full: xr.Dataset) -> Figure:
    """What a low test loss means under either mask."""

    def draw() -> Any:
        figure, axes = panels(2)
        for i, (found, name) in enumerate(
            ((diagonal, "diagonal mask"), (full, "full mask"))
        ):
            x = np.maximum(found.test_loss, FLOOR)
            axes[0].semilogx(x, found.accuracy_untrained, f"C{i}o", ms=4, label=name)
            axes[1].semilogx(x, found["rank"], f"C{i}o", ms=4, label=name)
        words = int(diagonal.words[0])
        axes[0].axhline(1 / words, color="C7", lw=0.8, ls=":", label="chance")
        axes[1].axhline(words, color="C7", lw=0.8, ls=":", label="D")
        axes[0].set(xlabel="test loss", ylabel="argmax accuracy, untaught pairs")
        axes[1].set(xlabel="test loss", ylabel="rank of the product (participation)")
        for ax in axes:
            ax.legend(fontsize=8)
        return figure

    return Figure(
        "what-is-learned",
        "What a low test loss means",
        "Under the diagonal mask a network of rank one brings the loss down without translating; under the full mask a low loss is a translation.",
        draw,
        xr.concat([diagonal, full], "cell")[
            ["test_loss", "accuracy_untrained", "rank"]
        ],
    )
