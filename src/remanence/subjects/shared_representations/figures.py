"""All pictures of the study, each drawn from its dataset alone; here those of the toy."""

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...report import Figure
from . import network_figures as networks


def figures(data: Mapping[str, xr.Dataset]) -> tuple[Figure, ...]:
    """All pictures, in the order of the experiments."""
    return (
        networks.figure_one_figure(data["diagonal"], data["full"], data.get("author")),
        networks.accuracy_figure(data["diagonal"], data["full"]),
        *([networks.spikes_figure(data["spikes"])] if "spikes" in data else []),
        networks.threshold_figure(data["graphs"]),
        networks.wide_threshold_figure(data["wide"]),
        alignment_figure(data["alignment"], data["times"]),
        barriers_figure(data["barriers"], data["predictor"], data["predicted_scales"]),
    )


def _with_prefix(part: xr.Dataset, name: str) -> xr.Dataset:
    """`part` with every name and axis marked, so that it can lie beside another."""
    return part.rename({n: f"{name}_{n}" for n in (*part.data_vars, *part.dims)})


def alignment_figure(aligned: xr.Dataset, times: xr.Dataset) -> Figure:
    """The contamination law, and the time that two and three factors take."""

    def draw() -> Any:
        figure, axes = plt.subplots(1, 2, figsize=(9.2, 3.6), layout="constrained")
        for i, width in enumerate(aligned.width.values):
            part = aligned.sel(width=width)
            x, y = -part.log10_scale.values, part.second_mode.values
            error = 2 * y * part.second_mode_log_stderr.values
            axes[0].errorbar(x, y, error, fmt=f"C{i}o", ms=4, label=f"width {width}")
            dense = np.geomspace(x[0], x[-1], 60)
            law = y[-1] * 10 ** (float(part.law) * (x[-1] - dense))
            axes[0].plot(dense, law, f"C{i}--", lw=0.8)
        axes[0].set(xlabel=r"$-\log_{10}\,\sigma$", xscale="log", yscale="log")
        axes[0].set(ylabel="second mode over first at half loss")
        axes[0].legend(fontsize=7)
        for factors, mark, name in ((2, "C0o-", "two factors: t"), (3, "C1s-", "three: t·σ")):
            part = times.time.sel(factors=factors)
            axes[1].plot(times.log10_scale, part / part[0], mark, ms=4, label=name)
        axes[1].set(xlabel=r"$\log_{10}\,\sigma$", ylabel="at half loss, over the largest σ's")
        axes[1].set(ylim=(0, None))
        axes[1].legend(fontsize=8)
        return figure

    return Figure(
        "alignment",
        "Alignment in the toy",
        "Left: what is left of the second mode falls as $\\sigma^{1-\\sigma_2/\\sigma_1}$ (dashed: the law). Right: two factors take −log σ, three take 1/σ.",
        draw,
        xr.merge([aligned, _with_prefix(times, "half_loss")]),
    )


def barriers_figure(found: xr.Dataset, guess: xr.Dataset, tried: xr.Dataset) -> Figure:
    """Success over σ, the predictor on unseen graphs, and the σ that it predicts."""

    def draw() -> Any:
        figure, axes = plt.subplots(1, 3, figsize=(13.8, 3.6), layout="constrained")
        x, share = found.log10_scale.values, found.success
        ranges = [share - found.success_low, found.success_high - share]
        axes[0].errorbar(x, share, ranges, fmt="C0o", ms=5, capsize=3, label="exact flow")
        axes[0].plot(x, found.predicted, "C1-", label="predicted from T")
        axes[0].set(xlabel=r"$\log_{10}\,\sigma$", ylabel="share that generalises")
        points: Any = {"ms": 4, "alpha": 0.6}
        for i, scale in enumerate(guess.log10_scale.values):
            part, label = guess.sel(log10_scale=scale), f"$\\sigma = 10^{{{scale:.0f}}}$"
            axes[1].plot(part.predicted, part.seen, f"C{i}o", label=label, **points)
        axes[1].plot([0, 1], [0, 1], color="C7", lw=0.8, ls=":")
        axes[1].set(xlabel="predicted from T", ylabel="seen in simulation")
        for i, decades in enumerate(tried.decades_above.values):
            seen, label = tried.seen.sel(decades_above=decades), f"at {10**decades:g} σ"
            axes[2].plot(tried.largest_log10_scale, seen, f"C{i}o", label=label, **points)
        wanted = tried.attrs["wanted"]
        axes[2].axhline(wanted, color="C7", lw=0.8, ls=":")
        axes[2].set(xlabel=rf"largest $\log_{{10}}\,\sigma$ predicted for {100 * wanted:.0f} %")
        axes[2].set(ylabel="share seen to generalise")
        for ax in axes:
            ax.set(ylim=(-0.03, 1.03))
            ax.legend(fontsize=8)
        return figure

    parts = [_with_prefix(found, "circulant"), guess, _with_prefix(tried, "tried")]
    return Figure(
        "sign-barriers",
        "Sign barriers and their prediction",
        "Left: a circulant of width 2, n = 10: how often exact flow generalises and does not end before a sign barrier (95 % ranges), against the linear phase alone. Middle: random graphs that the predictor has not seen. Right: other such graphs, started at the largest σ predicted to succeed in nine of ten starts, and above it.",
        draw,
        xr.merge(parts, combine_attrs="drop"),
    )
