"""The pictures of the study; each is drawn from its dataset alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...measure.connectivity import probability_connected
from ...report import Figure


FLOOR = 1e-12


def figures(data: Mapping[str, xr.Dataset]) -> tuple[Figure, ...]:
    """All pictures, in the order of the experiments."""
    return (
        _figure_one(data["diagonal"], data["full"]),
        _accuracy(data["diagonal"], data["full"]),
        _threshold(data["graphs"], data["wide"]),
        _alignment(data["alignment"], data["clocks"]),
        _walls(data["walls"], data["predictor"]),
        _random(data["random"]),
        _race(data["race"]),
    )


def _subplots(columns: int) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(1, columns, figsize=(4.6 * columns, 3.6), layout="constrained")


def _figure_one(diagonal: xr.Dataset, full: xr.Dataset) -> Figure:
    def draw() -> Any:
        figure, axes = _subplots(2)
        for ax, found, name in zip(
            axes,
            (diagonal, full),
            ("diagonal mask, SGD", "full mask, descent"),
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
            ax.legend(fontsize=8)
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


def _accuracy(diagonal: xr.Dataset, full: xr.Dataset) -> Figure:
    def draw() -> Any:
        figure, axes = _subplots(2)
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


def _threshold(graphs: xr.Dataset, wide: xr.Dataset) -> Figure:
    def draw() -> Any:
        figure, axes = _subplots(3)
        done = graphs.where(graphs.ending == 0, drop=True)
        scales = sorted(np.unique(done.scale))[::-1]
        for i, scale in enumerate(scales):
            part = done.where(done.scale == scale, drop=True)
            axes[0].semilogy(
                part.algebraic,
                np.maximum(part.test_loss, FLOOR),
                f"C{i}o",
                ms=3,
                alpha=0.7,
                label=f"σ = {scale:g}",
            )
        axes[0].axvline(0, color="C7", lw=0.8, ls=":")
        axes[0].set(
            xlabel="algebraic connectivity of T", ylabel="test loss", title="H = D"
        )
        ok = wide.where(wide.ending == 0, drop=True)
        for i, scale in enumerate(sorted(np.unique(ok.scale))[::-1]):
            part = ok.where(ok.scale == scale, drop=True)
            axes[1].semilogy(
                part.algebraic,
                np.maximum(part.test_loss, FLOOR),
                f"C{i}o",
                ms=3,
                alpha=0.7,
                label=f"σ = {scale:g}",
            )
        axes[1].axvline(0, color="C7", lw=0.8, ls=":")
        axes[1].set(
            xlabel="algebraic connectivity of T", ylabel="test loss", title="H > D"
        )
        pairs = np.arange(10, 46)
        axes[2].plot(
            pairs / 100,
            [probability_connected(10, int(n)) for n in pairs],
            "C0",
            label="P(connected), exact",
        )
        bins = np.linspace(0.16, 0.42, 9)
        where = np.digitize(done.fraction, bins)
        middle, share, error = [], [], []
        for b in np.unique(where):
            hit = (done.test_loss.values < 1e-3)[where == b]
            middle.append(float(done.fraction.values[where == b].mean()))
            share.append(hit.mean())
            error.append(np.sqrt(max(hit.mean() * (1 - hit.mean()), 0.02) / hit.size))
        axes[2].errorbar(
            middle, share, error, fmt="C1o", ms=4, label="share that generalises"
        )
        axes[2].set(xlabel="fraction of pairs taught", ylabel="probability")
        for ax in axes:
            ax.legend(fontsize=8)
        return figure

    return Figure(
        "threshold",
        "The threshold is connectivity",
        "Full mask. Left: with H = D every connected graph generalises and no other, at any σ. Middle: with H > D the connected ones do once σ is small. Right: the chance that random pairs are connected is the curve that Figure 1 shows.",
        draw,
        graphs,
    )


def _alignment(aligned: xr.Dataset, clock: xr.Dataset) -> Figure:
    def draw() -> Any:
        figure, axes = _subplots(2)
        x = aligned.log10_scale.values
        for i, width in enumerate(aligned.width.values):
            part = aligned.sel(width=width)
            y, e = part.contamination.values, part.log_stderr.values
            label = (
                f"width {width}: {float(part.exponent):.2f} (law {float(part.law):.2f})"
            )
            axes[0].semilogy(x, y, f"C{i}o", ms=4, label=label)
            axes[0].fill_between(
                x, y * np.exp(-2 * e), y * np.exp(2 * e), color=f"C{i}", alpha=0.2
            )
            law = y[-1] * 10 ** (float(part.law) * (x - x[-1]))
            axes[0].semilogy(x, law, f"C{i}--", lw=0.8)
        axes[0].axhline(0.01, color="C7", lw=0.8, ls=":")
        axes[0].set(xlabel="log10 σ", ylabel="contamination at half loss")
        axes[0].legend(fontsize=8)
        axes[1].plot(x, clock.time.sel(factors=2), "C0o-", ms=4, label="two factors: t")
        axes[1].set(xlabel="log10 σ", ylabel="t at half loss")
        twin = axes[1].twinx()
        three = clock.time.sel(factors=3)
        twin.plot(x, three, "C1s-", ms=4, label="three factors: t·σ (right)")
        twin.set(ylabel="t·σ", ylim=(0, 2 * float(three.max())))
        lines = axes[1].get_lines() + twin.get_lines()
        axes[1].legend(lines, [line.get_label() for line in lines], fontsize=8)
        return figure

    return Figure(
        "alignment",
        "Alignment in the toy",
        "Left: what is left of the other modes falls as σ^(1−σ2/σ1) (dashed: the law). Right: two factors take −log σ, three take 1/σ.",
        draw,
        aligned,
    )


def _walls(stuck: xr.Dataset, guess: xr.Dataset) -> Figure:
    def draw() -> Any:
        figure, axes = _subplots(2)
        x = stuck.log10_scale.values
        axes[0].plot(x, stuck.success, "C0o", ms=5, label="exact flow")
        axes[0].plot(x, stuck.foretold, "C1-", label="foretold from T")
        axes[0].set(
            xlabel="log10 σ", ylabel="share that generalises", ylim=(-0.03, 1.03)
        )
        for i, scale in enumerate(guess.log10_scale.values):
            part = guess.sel(log10_scale=scale)
            axes[1].plot(
                part.foretold,
                part.seen,
                f"C{i}o",
                ms=4,
                alpha=0.6,
                label=f"σ = 1e{scale:.0f}",
            )
        axes[1].plot([0, 1], [0, 1], color="C7", lw=0.8, ls=":")
        axes[1].set(xlabel="foretold from T", ylabel="seen in simulation")
        for ax in axes:
            ax.legend(fontsize=8)
        return figure

    return Figure(
        "walls",
        "Sign walls and their predictor",
        "Left: a circulant of width 2, n = 10: how often the flow ends before a sign wall, against the linear phase alone. Right: random graphs that the predictor has not seen.",
        draw,
        guess,
    )


def _random(drawn: xr.Dataset) -> Figure:
    def draw() -> Any:
        figure, ax = _subplots(1)
        p = drawn.density.values
        values = drawn.singular_values.values
        ax.semilogy(p, values[:, 0], "C0o", label="largest")
        ax.semilogy(p, drawn.outlier_law, "C0--", lw=0.9, label="pn")
        ax.semilogy(p, values[:, 1], "C1o", label="second")
        ax.semilogy(p, drawn.edge_law, "C1--", lw=0.9, label="2√(np(1−p))")
        ax.semilogy(
            p, drawn.document_edge, color="C7", ls=":", label="2√(p(1−p)), as printed"
        )
        ax.set(xlabel="density p", ylabel="singular value")
        ax.legend(fontsize=7, ncols=2, loc="center")
        return figure

    return Figure(
        "random-pairs",
        "Random T: outlier and bulk",
        "Singular values of Bernoulli matrices against their laws; the printed bulk edge lacks √n.",
        draw,
        drawn,
    )


def _race(found: xr.Dataset) -> Figure:
    def draw() -> Any:
        figure, axes = _subplots(2)
        for i in range(3):
            label = f"s = {float(found.mode[i]):g}"
            axes[0].plot(found.time, found.theory[:, i], f"C{i}-", label=label)
            axes[0].plot(found.time, found.network[:, i], f"C{i}o", ms=3, mfc="none")
            axes[0].axhline(float(found.cube_root[i]), color="C7", lw=0.6, ls=":")
        axes[0].set(xlabel="time", ylabel="b2")
        axes[0].legend(fontsize=8)
        change = np.abs(found.conserved_network - found.conserved_network[0])
        axes[1].semilogy(found.time[1:], np.maximum(change[1:, :3], 1e-17))
        axes[1].set(xlabel="time", ylabel="change of b2² − M b1²")
        return figure

    return Figure(
        "race",
        "The race reduction",
        "Left: lines are the three-number reduction, circles the whole routing network, dotted (M s)^(1/3). Right: the conserved quantity along the network's flow.",
        draw,
        found,
    )
