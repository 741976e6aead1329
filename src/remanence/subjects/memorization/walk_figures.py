"""Walks: polygons with the regions of their argmax, in the plane, in space, projected."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.colors import ListedColormap

from ...report import Figure
from .memorize import memorize
from .memory import Memory


def polygon_figure(words: tuple[str, ...]) -> Figure:
    """Words that two units hold: the walk round a polygon, each symbol in its region."""
    planar = []
    for word in words:
        try:
            planar.append((word, memorize(word, method="rotation")))
        except ValueError:
            continue

    def draw():
        fig, axes = plt.subplots(1, len(planar), figsize=(3.1 * len(planar), 3.3), squeeze=False)
        for ax, (word, memory) in zip(axes[0], planar, strict=True):
            polygon(ax, memory)
            ax.set_title(word)
        return fig

    orbits = {
        f"orbit_{i}": ((f"step_{i}", "unit"), memory.written.orbit(memory.word.period))
        for i, (_, memory) in enumerate(planar)
    }
    return Figure(
        "polygons",
        "Two units: a walk round a polygon",
        "The state h_t (numbered by step) and the regions in which each symbol has the "
        "largest logit. p steps make one turn, or as many as the chosen frequency.",
        draw,
        xr.Dataset(orbits),
    )


def polygon(ax, memory: Memory) -> None:
    """One walk in the plane with its argmax regions."""
    orbit = memory.written.orbit(memory.word.period)
    reach = 1.45 * max(1.0, float(np.abs(orbit).max()))
    x, y = np.meshgrid(np.linspace(-reach, reach, 400), np.linspace(-reach, reach, 400))
    W, b = memory.written.W_y, memory.written.b_y
    logits = W @ np.stack([x.ravel(), y.ravel()]) + b[:, None]
    used = list(memory.word.used)
    region = logits[used].argmax(axis=0).reshape(x.shape)
    shades = ListedColormap([f"C{i % 7}" for i in range(len(used))])
    ax.imshow(
        region,
        origin="lower",
        extent=(-reach, reach, -reach, reach),
        cmap=shades,
        vmin=-0.5,
        vmax=len(used) - 0.5,
        alpha=0.28,
        interpolation="nearest",
    )
    # What is read once does not come back.
    ring = orbit if memory.method == "once" else np.vstack([orbit, orbit[:1]])
    ax.plot(ring[:, 0], ring[:, 1], color="C7", lw=0.8)
    for t, (h, k) in enumerate(zip(orbit, memory.word.indices, strict=True)):
        ax.plot(*h, "o", ms=7, color=f"C{used.index(k) % 7}")
        symbol = memory.word.alphabet[k]
        ax.annotate(
            f"{'␣' if symbol == ' ' else symbol}{_sub(t + 1)}",
            h * 1.2,
            ha="center",
            va="center",
            fontsize=8,
        )
    ax.set_aspect("equal")
    ax.set_xlabel("$h[0]$")
    ax.set_ylabel("$h[1]$")


def walk_figure(memory: Memory) -> Figure:
    """Any memory's walk: its polygon, or the two widest directions of its states."""
    orbit = np.asarray(memory.written.orbit(memory.word.period), dtype=float)

    def draw():
        fig, ax = plt.subplots(figsize=(4.2, 4.2))
        if memory.dimension == 2 and memory.written.activation == "linear":
            polygon(ax, memory)
        else:
            projected(ax, memory, orbit)
        ax.set_title(f"{memory.method}, d = {memory.dimension}")
        return fig

    return Figure(
        "walk",
        f"The walk of a {memory.method} memory",
        "The states of one period; colours are symbols.",
        draw,
        xr.Dataset({"orbit": (("step", "unit"), orbit)}),
    )


def projected(ax, memory: Memory, orbit: np.ndarray) -> None:
    """The two widest directions of a walk (time against state, if there is one unit)."""
    used = list(memory.word.used)
    if orbit.shape[1] == 1:
        at = np.stack([np.arange(1, len(orbit) + 1), orbit[:, 0]], axis=1)
        ax.set_xlabel("step")
        ax.set_ylabel("$h$")
    else:
        centred = orbit - orbit.mean(axis=0)
        at = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
        ax.set_xlabel("first direction")
        ax.set_ylabel("second direction")
    ax.plot(at[:, 0], at[:, 1], color="C7", lw=0.6)
    for t, k in enumerate(memory.word.indices):
        ax.plot(*at[t], "o", ms=6, color=f"C{used.index(k) % 7}")


def _sub(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def orbit_figure(word: str) -> Figure:
    """A word that needs more than a plane: its walk in space, and plane by plane."""
    memory = memorize(word, method="harmonic")
    orbit = memory.written.orbit(memory.word.period)
    p, labels = memory.word.period, np.asarray(memory.word.indices)
    planes = orbit.shape[1] // 2

    def draw():
        fig = plt.figure(figsize=(3.2 * (planes + 1.5), 3.3))
        # Room for the third label beside the next panel.
        panels = fig.add_gridspec(1, planes + 1, width_ratios=[1.5, *[1.0] * planes])
        space: Any = fig.add_subplot(panels[0], projection="3d")
        # The widest three directions of the walk, without the readout's own.
        u = memory.written.W_y[1] - memory.written.W_y[0]
        u = u / np.linalg.norm(u)
        rest = orbit - orbit @ u[:, None] * u
        axes = np.linalg.svd(rest - rest.mean(axis=0))[2][:2]
        at = np.stack([orbit @ axes[0], orbit @ axes[1], orbit @ u])
        ring = np.concatenate([at, at[:, :1]], axis=1)
        space.plot(*ring, color="C7", lw=0.8)
        for k in (0, 1):
            space.scatter(*at[:, labels == k], color=f"C{k}", s=28, depthshade=False)
        space.set_box_aspect(None, zoom=0.85)
        space.set_zlabel("readout")
        space.locator_params(nbins=3)
        space.set_title(f"{word}, d = {memory.dimension}")
        for i in range(planes):
            ax = fig.add_subplot(panels[i + 1])
            ring = np.vstack([orbit, orbit[:1]])[:, 2 * i : 2 * i + 2]
            ax.plot(ring[:, 0], ring[:, 1], color="C7", lw=0.8)
            for t in range(p):
                ax.plot(*orbit[t, 2 * i : 2 * i + 2], "o", color=f"C{labels[t]}", ms=7)
            ax.set_aspect("equal")
            ax.set_title(f"frequency {memory.frequencies[i]}/{p}")
            ax.set_xlabel(f"$h[{2 * i}]$")
            ax.set_ylabel(f"$h[{2 * i + 1}]$")
        return fig

    return Figure(
        "orbits",
        "A word that needs six units",
        "The walk in space (two wide directions and the one that is read) and in each "
        "of its planes; colours are symbols. No plane alone tells them apart.",
        draw,
        xr.Dataset({"orbit": (("step", "unit"), orbit), "symbol": ("step", labels)}),
    )
