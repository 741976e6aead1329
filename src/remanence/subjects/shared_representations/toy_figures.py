"""Pictures of the toy, of random matrices and of the race."""

from typing import Any

import numpy as np
import xarray as xr

from ...report import Figure
from .axes import panels


def alignment_figure(aligned: xr.Dataset, clock: xr.Dataset) -> Figure:
    """The contamination law, its exponents, and the two clocks."""

    def draw() -> Any:
        figure, axes = panels(3)
        for i, width in enumerate(aligned.width.values):
            part = aligned.sel(width=width)
            x, y = -part.log10_scale.values, part.second_mode.values
            error = 2 * y * part.second_mode_log_stderr.values
            axes[0].errorbar(x, y, error, fmt=f"C{i}o", ms=4, label=f"width {width}")
            dense = np.geomspace(x[0], x[-1], 60)
            law = y[-1] * 10 ** (float(part.law) * (x[-1] - dense))
            axes[0].plot(dense, law, f"C{i}--", lw=0.8)
        axes[0].set(
            xlabel=r"$-\log_{10}\,\sigma$",
            ylabel="second mode over first at half loss",
            xscale="log",
            yscale="log",
        )
        axes[0].legend(fontsize=7)
        ratio, error = aligned.exponent / aligned.law, aligned.exponent_stderr
        axes[1].errorbar(
            aligned.width, ratio, 2 * error / aligned.law, fmt="C0o", ms=4, capsize=3
        )
        axes[1].axhline(1.0, color="C7", lw=0.8, ls=":")
        axes[1].set(
            xlabel="width",
            ylabel="exponent of σ over its law",
            ylim=(0.97, 1.03),
            xticks=sorted(aligned.width.values),
        )
        x = clock.log10_scale.values
        axes[2].plot(x, clock.time.sel(factors=2), "C0o-", ms=4, label="two factors: t")
        axes[2].set(xlabel=r"$\log_{10}\,\sigma$", ylabel="t at half loss")
        twin = axes[2].twinx()
        three = clock.time.sel(factors=3)
        twin.plot(x, three, "C1s-", ms=4, label="three factors: t·σ (right)")
        twin.set(ylabel="t·σ", ylim=(0, 2 * float(three.max())))
        lines = axes[2].get_lines() + twin.get_lines()
        axes[2].legend(lines, [line.get_label() for line in lines], fontsize=8)
        return figure

    return Figure(
        "alignment",
        "Alignment in the toy",
        "Left: what is left of the second mode falls as $\\sigma^{1-\\sigma_2/\\sigma_1}$ (dashed: the law). Middle: the measured exponent over its law, with two standard errors. Right: two factors take −log σ, three take 1/σ.",
        draw,
        xr.merge([aligned, _renamed(clock, "clock")]),
    )


def _renamed(part: xr.Dataset, name: str) -> xr.Dataset:
    """`part` with every name and axis marked, so that it can lie beside another."""
    return part.rename({n: f"{name}_{n}" for n in (*part.data_vars, *part.dims)})


def walls_figure(stuck: xr.Dataset, guess: xr.Dataset, tried: xr.Dataset) -> Figure:
    """Success over σ, the predictor on unseen graphs, and the σ that it foretells."""

    def draw() -> Any:
        figure, axes = panels(3)
        x = stuck.log10_scale.values
        below = stuck.success - stuck.success_low
        above = stuck.success_high - stuck.success
        axes[0].errorbar(
            x, stuck.success, [below, above], fmt="C0o", ms=5, capsize=3,
            label="exact flow",
        )  # fmt: skip
        axes[0].plot(x, stuck.foretold, "C1-", label="foretold from T")
        axes[0].set(
            xlabel=r"$\log_{10}\,\sigma$",
            ylabel="share that generalises",
            ylim=(-0.03, 1.03),
        )
        for i, scale in enumerate(guess.log10_scale.values):
            part = guess.sel(log10_scale=scale)
            axes[1].plot(
                part.foretold,
                part.seen,
                f"C{i}o",
                ms=4,
                alpha=0.6,
                label=f"$\\sigma = 10^{{{scale:.0f}}}$",
            )
        axes[1].plot([0, 1], [0, 1], color="C7", lw=0.8, ls=":")
        axes[1].set(xlabel="foretold from T", ylabel="seen in simulation")
        for i, decades in enumerate(tried.decades_above.values):
            axes[2].plot(
                tried.told_log10_scale,
                tried.seen.sel(decades_above=decades),
                f"C{i}o",
                ms=4,
                alpha=0.6,
                label=f"at {10**decades:g} σ" if decades else "at that σ",
            )
        wanted = tried.attrs["wanted"]
        axes[2].axhline(wanted, color="C7", lw=0.8, ls=":")
        axes[2].set(
            xlabel=rf"largest $\log_{{10}}\,\sigma$ foretold for {wanted:.0%}".replace(
                "%", " %"
            ),
            ylabel="share seen to generalise",
            ylim=(-0.03, 1.03),
        )
        for ax in axes:
            ax.legend(fontsize=8)
        return figure

    return Figure(
        "walls",
        "Sign walls and their predictor",
        "Left: a circulant of width 2, n = 10: how often exact flow generalises and does not end before a sign wall (95 % ranges), against the linear phase alone. Middle: random graphs that the predictor has not seen. Right: other such graphs, started at the largest σ foretold to succeed in nine of ten starts, and above it.",
        draw,
        xr.merge(
            [_renamed(stuck, "circulant"), guess, _renamed(tried, "tried")],
            combine_attrs="drop",
        ),
    )


def random_figure(drawn: xr.Dataset) -> Figure:
    """Outlier and bulk edge over the density."""

    def draw() -> Any:
        figure, ax = panels(1)
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
        ax.legend(fontsize=7, ncols=2, loc="center", bbox_to_anchor=(0.5, 0.32))
        return figure

    return Figure(
        "random-pairs",
        "Random T: outlier and bulk",
        "Singular values of Bernoulli matrices against their laws; the printed bulk edge lacks √n.",
        draw,
        drawn,
    )


def race_figure(found: xr.Dataset) -> Figure:
    """Reduction against network, and the conserved quantity."""

    def draw() -> Any:
        figure, axes = panels(2)
        for i in range(3):
            label = f"s = {float(found.mode[i]):g}"
            axes[0].plot(found.time, found.theory[:, i], f"C{i}-", label=label)
            axes[0].plot(found.time, found.network[:, i], f"C{i}o", ms=3, mfc="none")
            axes[0].axhline(float(found.cube_root[i]), color="C7", lw=0.6, ls=":")
        axes[0].set(xlabel="time", ylabel="$b_2$")
        axes[0].legend(fontsize=8)
        change = np.abs(found.conserved_network - found.conserved_network[0])
        for i in range(3):
            relative = change[1:, i] / found.network[1:, i] ** 2
            axes[1].semilogy(
                found.time[1:],
                np.maximum(relative, 1e-17),
                label=f"s = {float(found.mode[i]):g}",
            )
        axes[1].set(
            xlabel="time",
            ylabel="change of $b_2^2 - M b_1^2$ over $b_2^2$",
            ylim=(1e-17, 1e-9),
        )
        axes[1].legend(fontsize=8)
        return figure

    return Figure(
        "race",
        "The race reduction",
        "Left: lines are the three-number reduction, circles the whole routing network, dotted $(M s)^{1/3}$. Right: what the flow should conserve, along that of the network: it moves by rounding only.",
        draw,
        found,
    )
