"""The figures of the study: walks, what a memory costs, and memories that were learned."""

import math
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...report import Figure
from .config import Config
from .frontier import frontier_table, Point
from .learned import needed
from .learned_modes import Modes
from .walk_figures import polygon_figure


def figures(config: Config, results: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Everything that is drawn, in order."""
    return (
        polygon_figure(("00000111", "abracadabra", "0001", "hello world")),
        frontier_figure(config.word, list(results["frontier"].values())),
        atlas_figure(results["atlas"]),
        stability_figure(results["least factors"]),
        learned_figure(config, results["learned"]),
        eigenvalue_figure(results["modes"]),
    )


def frontier_figure(word: str, points: list[Point]) -> Figure:
    """Every construction of one word: dimension, stability, precision, noise."""
    panels = {
        "exponent": "largest exponent (nats/step)",
        "bits": "binary places of state",
        "measured_noise": "harmless perturbation (2-norm)",
    }

    def draw():
        fig, axes = plt.subplots(1, 3, figsize=(12, 3.8))
        for ax, (field, label) in zip(axes, panels.items(), strict=True):
            for point, mark in zip(points, "osD^vP", strict=False):
                ax.plot(point.dimension, getattr(point, field), mark, ms=8, label=point.method)
            ax.set(xlabel="dimension d", ylabel=label)
        axes[0].axhline(0, color="C7", lw=0.8)
        axes[0].legend()
        return fig

    return Figure(
        "frontier",
        f"The frontier of “{word}”",
        "Fewer units cost stability or precision. Left: the largest Lyapunov exponent. "
        "Middle: binary places to which the state must be kept for one period. Right: "
        "the largest perturbation of the state that is harmless in every drawn direction.",
        draw,
        frontier_table(points),
    )


def atlas_figure(atlas: xr.Dataset) -> Figure:
    """How many necklaces need each dimension."""

    def draw():
        fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True)
        image: Any = None
        for ax, field in zip(axes, ("real", "rational"), strict=True):
            share = atlas[field] / atlas[field].sum("dimension")
            shown = share.where(share > 0).transpose("dimension", "period")
            at = (atlas.period, atlas.dimension)
            image = ax.pcolormesh(*at, shown, cmap="viridis", vmin=0, vmax=1)
            top = [int(atlas.dimension[(row > 0).values].max()) for row in atlas[field]]
            ax.step(atlas.period, top, where="mid", color="C1", label="largest needed")
            ax.plot(atlas.period, atlas.period / 2, ":", color="C7", label="p / 2")
            ax.set(xlabel="period p", title=field)
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
        for p, values in least.least.groupby(least.period):
            # Side by side within a period, from the most stable on.
            at = p + 0.7 * (np.arange(values.size) + 0.5) / values.size - 0.35
            ax.plot(at, np.sort(values), ".", color="C0", ms=4)
            ax.plot([p - 0.35, p + 0.35], [values.max()] * 2, color="C1", lw=1)
        ax.axhline(1, color="C7", lw=0.8)
        ax.axhline(2, color="C7", lw=0.8, ls=":")
        ax.set(xlabel="period p", ylabel="least |a| of one unit")
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


def learned_figure(config: Config, table: xr.Dataset) -> Figure:
    """Which sizes learn which word."""

    def draw():
        words = config.learned_words
        size = (3.4 * len(words) + 1.6, 3.3)
        fig, axes = plt.subplots(1, len(words), figsize=size, sharey=True, squeeze=False)
        for ax, word in zip(axes[0], words, strict=True):
            for i, kind in enumerate(("linear", "tanh")):
                part = table.sel(word=word, kind=kind)
                for field, dash, name in (("learned", "-", "shown"), ("kept", "--", "ten periods")):
                    share = part[field].astype(float).mean("seed")
                    error = np.sqrt(share * (1 - share) / table.sizes["seed"])
                    look = {"ls": dash, "color": f"C{i}", "label": f"{kind}, {name}"}
                    ax.errorbar(table.units, share, error, **look)
            ax.axvline(needed(word), color="C7", lw=1)
            ax.set(title=f"{word}: d* = {needed(word)}", xlabel="units")
        axes[0][0].set_ylabel("share of seeds")
        axes[0][-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return fig

    return Figure(
        "learned",
        "Memories that were learned",
        "Share of seeds whose network says the word for the periods it was shown, and for "
        "ten. The grey line is d*, below which no linear network can keep a word; bars are "
        "one standard error over seeds.",
        draw,
        table[["learned", "kept", "loss"]],
    )


def eigenvalue_figure(found: list[Modes]) -> Figure:
    """The eigenvalues that learned linear memories use."""
    flat = [(m.word, m.units, z) for m in found for z in m.eigenvalues]
    words = list(dict.fromkeys(word for word, *_ in flat)) or [""]

    def draw():
        fig, axes = plt.subplots(1, len(words), figsize=(3.6 * len(words), 3.6), squeeze=False)
        for ax, word in zip(axes[0], words, strict=True):
            angles = lambda n: 2 * math.pi * np.arange(n) / n
            ax.plot(np.cos(angles(200)), np.sin(angles(200)), color="C7", lw=0.8)
            roots = angles(len(word) or 1)
            ax.plot(np.cos(roots), np.sin(roots), "+", color="C7", ms=10)
            for d in sorted({units for name, units, _ in flat if name == word}):
                dots = [(z.real, z.imag) for name, units, z in flat if (name, units) == (word, d)]
                look = {"color": f"C{d % 7}", "alpha": 0.6, "label": f"{d} units"}
                ax.plot(*zip(*dots, strict=True), ".", **look)
            ax.set(aspect="equal", title=word, xlabel="Re λ", ylabel="Im λ")
            if word:
                ax.legend(loc="center")
        return fig

    return Figure(
        "eigenvalues",
        "Where learned memories live",
        "Eigenvalues of learned W_h that carry the logits, with the unit circle and the "
        "p-th roots of unity (crosses); colours are numbers of units. Cross-entropy rewards "
        "growing logits, so training overshoots the circle.",
        draw,
        xr.Dataset(
            {
                "re": ("eigenvalue", [z.real for *_, z in flat]),
                "im": ("eigenvalue", [z.imag for *_, z in flat]),
                "units": ("eigenvalue", [d for _, d, _ in flat]),
                "word": ("eigenvalue", np.array([w for w, *_ in flat], dtype=np.str_)),
            }
        ),
    )
