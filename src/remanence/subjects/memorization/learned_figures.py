"""Memories that were learned: which sizes succeed, and where their eigenvalues lie."""

import math

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...report import Figure
from .config import Config
from .learned import needed
from .readings import Reading


Readings = list[tuple[str, int, int, Reading]]


def learned_figure(config: Config, table: xr.Dataset) -> Figure:
    """Which sizes learn which word."""

    def draw():
        words = list(config.learned_words)
        fig, axes = plt.subplots(
            1, len(words), figsize=(3.4 * len(words) + 1.6, 3.3), sharey=True, squeeze=False
        )
        for ax, word in zip(axes[0], words, strict=True):
            for i, kind in enumerate(("linear", "tanh")):
                part = table.sel(word=word, kind=kind)
                for field, dash in (("learned", "-"), ("kept", "--")):
                    share = part[field].astype(float).mean("seed")
                    error = np.sqrt(share * (1 - share) / table.sizes["seed"])
                    label = f"{kind}, {'shown' if field == 'learned' else 'ten periods'}"
                    ax.errorbar(table.units, share, error, ls=dash, color=f"C{i}", label=label)
            ax.axvline(needed(word), color="C7", lw=1)
            ax.set_title(f"{word}: d* = {needed(word)}")
            ax.set_xlabel("units")
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


def eigenvalue_figure(read: Readings) -> Figure:
    """The eigenvalues that learned linear memories use."""
    words = list(dict.fromkeys(word for word, *_ in read))

    def draw():
        fig, axes = plt.subplots(
            1, max(len(words), 1), figsize=(3.6 * max(len(words), 1), 3.6), squeeze=False
        )
        angle = np.linspace(0, 2 * math.pi, 200)
        for ax, word in zip(axes[0], words, strict=False):
            p = len(word)
            ax.plot(np.cos(angle), np.sin(angle), color="C7", lw=0.8)
            roots = 2 * math.pi * np.arange(p) / p
            ax.plot(np.cos(roots), np.sin(roots), "+", color="C7", ms=10)
            for d in sorted({d for name, d, *_ in read if name == word}):
                at = [
                    (z.real, z.imag)
                    for name, units, _, r in read
                    if name == word and units == d
                    for z in r.eigenvalues
                ]
                dots = np.array(at).reshape(-1, 2).T
                ax.plot(*dots, ".", color=f"C{d % 7}", alpha=0.6, label=f"{d} units")
            ax.set_aspect("equal")
            ax.set_title(word)
            ax.set_xlabel("Re λ")
            ax.set_ylabel("Im λ")
            if ax.get_legend_handles_labels()[1]:
                ax.legend(loc="center")
        return fig

    flat = [(w, d, s, z) for w, d, s, r in read for z in r.eigenvalues]
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
                "units": ("eigenvalue", [d for _, d, _, _ in flat]),
                "word": ("eigenvalue", np.array([w for w, *_ in flat], dtype=np.str_)),
            }
        ),
    )
