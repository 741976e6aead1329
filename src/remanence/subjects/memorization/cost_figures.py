"""What a memory costs: the frontier of one word, the atlas of all, the least |a|."""

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...report import Figure
from .config import Config
from .frontier import Point


def frontier_figure(config: Config, points: list[Point]) -> Figure:
    """Every construction of one word: dimension, precision, stability, noise."""

    def draw():
        fig, axes = plt.subplots(1, 3, figsize=(12, 3.8))
        panels = (
            ("exponent", "largest exponent (nats/step)"),
            ("bits", "binary places of state"),
            ("measured_noise", "harmless perturbation (2-norm)"),
        )
        for ax, (field, label) in zip(axes, panels, strict=True):
            for i, point in enumerate(points):
                value = getattr(point, field)
                ax.plot(
                    point.dimension, value, "osD^vP"[i % 6], color=f"C{i}", ms=8, label=point.method
                )
                if field == "measured_noise" and math.isfinite(point.proved_noise):
                    ax.plot(point.dimension, point.proved_noise, "_", color=f"C{i}", ms=16)
            ax.set_xlabel("dimension d")
            ax.set_ylabel(label)
        axes[0].axhline(0, color="C7", lw=0.8)
        axes[0].legend()
        return fig

    return Figure(
        "frontier",
        f"The frontier of “{config.word}”",
        "Fewer units cost stability or precision. Left: the largest Lyapunov exponent. "
        "Middle: binary places to which the state must be kept for one period. Right: "
        "the largest perturbation of the state that is harmless, measured (marks) and "
        "proved (dashes).",
        draw,
        xr.Dataset(
            {
                name: ("method", [float(getattr(p, name)) for p in points])
                for name in ("dimension", "exponent", "bits", "margin", "measured_noise")
            },
            coords={"method": [p.method for p in points]},
        ),
    )


def atlas_figure(atlas: xr.Dataset) -> Figure:
    """How many necklaces need each dimension."""

    def draw():
        fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True)
        image: Any = None
        for ax, field in zip(axes, ("real", "rational"), strict=True):
            share = atlas[field] / atlas[field].sum("dimension")
            shown = share.where(share > 0).transpose("dimension", "period")
            image = ax.pcolormesh(
                atlas.period, atlas.dimension, shown, cmap="viridis", vmin=0, vmax=1
            )
            top = [int(atlas.dimension[(row > 0).values].max()) for row in atlas[field]]
            ax.step(atlas.period, top, where="mid", color="C1", label="largest needed")
            ax.plot(atlas.period, atlas.period / 2, ":", color="C7", label="p / 2")
            ax.set_xlabel("period p")
            ax.set_title(field)
        axes[0].set_ylabel("minimal dimension d*")
        axes[0].legend()
        fig.colorbar(image, ax=axes, label="share of necklaces")
        return fig

    return Figure(
        "atlas",
        "How small can d be?",
        "All binary necklaces (up to rotation and complement), every minimum proved: "
        "the share that needs each dimension, over the reals and over the rationals.",
        draw,
        atlas,
    )


def stability_figure(least: xr.Dataset) -> Figure:
    """How stable one unit can be that hears itself, necklace by necklace."""

    def draw():
        fig, ax = plt.subplots(figsize=(6, 3.8))
        for p in np.unique(least.period):
            values = np.sort(least.least.values[least.period.values == p])
            # Side by side within a period, from the most stable on.
            at = p + 0.7 * (np.arange(len(values)) + 0.5) / len(values) - 0.35
            ax.plot(at, values, ".", color="C0", ms=4)
            ax.plot([p - 0.35, p + 0.35], [values.max()] * 2, color="C1", lw=1)
        ax.axhline(1, color="C7", lw=0.8)
        ax.axhline(2, color="C7", lw=0.8, ls=":")
        ax.set_xlabel("period p")
        ax.set_ylabel("least |a| of one unit")
        return fig

    return Figure(
        "stability",
        "How stable can one unit be?",
        "Every binary necklace: the least |a| with which h' = ah + c_x says it, exact. Below "
        "the grey line the memory contracts; the dotted line is the shift map, which serves "
        "every word. Orange: the most that a word of the period needs.",
        draw,
        least,
    )
