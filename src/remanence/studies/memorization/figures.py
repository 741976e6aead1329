"""The pictures of the study: orbits and their regions, the frontier, the atlas, learning."""

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.colors import ListedColormap

from ...construct import memorize, Memory
from ...report import Figure
from .config import Config
from .frontier import Point
from .learned import needed, Reading


Readings = list[tuple[str, int, int, Reading]]
POLYGONS = ("00000111", "abracadabra", "0001", "hello world")


def figures(
    config: Config,
    atlas: xr.Dataset,
    points: list[Point],
    learned: xr.Dataset,
    read: Readings,
) -> tuple[Figure, ...]:
    """Everything that is drawn."""
    return (
        polygon_figure(POLYGONS),
        orbit_figure("00010110111"),
        frontier_figure(config, points),
        atlas_figure(atlas),
        learned_figure(config, learned),
        eigenvalue_figure(read),
    )


def polygon_figure(words: tuple[str, ...]) -> Figure:
    """Words that two units hold: the walk round a polygon, each symbol in its region."""
    planar = []
    for word in words:
        try:
            planar.append((word, memorize(word, method="rotation")))
        except ValueError:
            continue

    def draw():
        fig, axes = plt.subplots(
            1, len(planar), figsize=(3.1 * len(planar), 3.3), squeeze=False
        )
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
    reach = 1.45
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
    orbit = memory.written.orbit(memory.word.period)
    ring = np.vstack([orbit, orbit[:1]])
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
        fig = plt.figure(figsize=(3.2 * (planes + 1), 3.3))
        space = fig.add_subplot(1, planes + 1, 1, projection="3d")
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
        space.set_zlabel("readout")  # pyright: ignore[reportAttributeAccessIssue]
        space.set_title(f"{word}, d = {memory.dimension}")
        for i in range(planes):
            ax = fig.add_subplot(1, planes + 1, i + 2)
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
                    point.dimension,
                    value,
                    "osD^vP"[i % 6],
                    color=f"C{i}",
                    ms=8,
                    label=point.method,
                )
                if field == "measured_noise" and math.isfinite(point.proved_noise):
                    ax.plot(
                        point.dimension, point.proved_noise, "_", color=f"C{i}", ms=16
                    )
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
                for name in (
                    "dimension",
                    "exponent",
                    "bits",
                    "margin",
                    "measured_noise",
                )
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


def learned_figure(config: Config, table: xr.Dataset) -> Figure:
    """Which sizes learn which word."""

    def draw():
        words = list(config.learned_words)
        fig, axes = plt.subplots(
            1, len(words), figsize=(3.4 * len(words), 3.3), sharey=True, squeeze=False
        )
        for ax, word in zip(axes[0], words, strict=True):
            for i, kind in enumerate(("linear", "tanh")):
                part = table.sel(word=word, kind=kind)
                for field, dash in (("learned", "-"), ("kept", "--")):
                    share = part[field].astype(float).mean("seed")
                    error = np.sqrt(share * (1 - share) / table.sizes["seed"])
                    label = (
                        f"{kind}, {'shown' if field == 'learned' else 'ten periods'}"
                    )
                    ax.errorbar(
                        table.units, share, error, ls=dash, color=f"C{i}", label=label
                    )
            ax.axvline(needed(word), color="C7", lw=1)
            ax.annotate("d*", (needed(word), 0.02), color="C7")
            ax.set_title(word)
            ax.set_xlabel("units")
        axes[0][0].set_ylabel("share of seeds")
        axes[0][-1].legend(fontsize=7)
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
            1,
            max(len(words), 1),
            figsize=(3.6 * max(len(words), 1), 3.6),
            squeeze=False,
        )
        angle = np.linspace(0, 2 * math.pi, 200)
        for ax, word in zip(axes[0], words, strict=False):
            p = len(word)
            ax.plot(np.cos(angle), np.sin(angle), color="C7", lw=0.8)
            roots = 2 * math.pi * np.arange(p) / p
            ax.plot(np.cos(roots), np.sin(roots), "+", color="C7", ms=10)
            for name, d, _, r in read:
                if name == word:
                    at = [(z.real, z.imag) for z in r.eigenvalues]
                    ax.plot(
                        *np.array(at).reshape(-1, 2).T,
                        ".",
                        color=f"C{d % 7}",
                        alpha=0.6,
                    )
            ax.set_aspect("equal")
            ax.set_title(word)
            ax.set_xlabel("Re λ")
            ax.set_ylabel("Im λ")
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
