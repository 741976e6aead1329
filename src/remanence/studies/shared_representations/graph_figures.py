"""Pictures of Figure 1, of what is learned, and of the threshold."""

from typing import Any

import numpy as np
import xarray as xr
from scipy.stats import binomtest

from ...measure.connectivity import probability_connected
from ...report import Figure
from .axes import FLOOR, panels
from .figure_one import GENERALISES


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
