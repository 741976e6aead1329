"""The walk of a memory's state: round a polygon in two units, a circle a frequency above."""

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
    memories = [memorize(word, method="rotation") for word in words]
    orbits = {
        f"orbit_{i}": ((f"step_{i}", "unit"), memory.written.orbit(memory.word.period))
        for i, memory in enumerate(memories)
    }

    def draw() -> Any:
        fig, axes = plt.subplots(1, len(words), figsize=(3.1 * len(words), 3.3))
        for ax, word, memory in zip(axes, words, memories, strict=True):
            polygon(ax, memory)
            ax.set_title(word)
        return fig

    return Figure(
        "polygons",
        "Two units: a walk round a polygon",
        "The state h_t (numbered by step) and the regions in which each symbol has the "
        "largest logit. p steps make one turn, or as many as the chosen frequency.",
        draw,
        xr.Dataset(orbits),
    )


def polygon(ax: Any, memory: Memory) -> None:
    """One walk in the plane with its argmax regions."""
    orbit, used = memory.written.orbit(memory.word.period), list(memory.word.used)
    reach = 1.45 * max(1.0, float(np.abs(orbit).max()))
    line = np.linspace(-reach, reach, 400)
    x, y = np.meshgrid(line, line)
    logits = memory.written.W_y @ np.stack([x.ravel(), y.ravel()]) + memory.written.b_y[:, None]
    regions = logits[used].argmax(axis=0).reshape(x.shape)
    colours = ListedColormap([f"C{i % 7}" for i in range(len(used))])
    look: Any = {"vmin": -0.5, "vmax": len(used) - 0.5, "alpha": 0.28, "interpolation": "nearest"}
    place: Any = {"origin": "lower", "extent": (-reach, reach, -reach, reach)}
    ax.imshow(regions, cmap=colours, **look, **place)
    # What is read once does not come back.
    walk(ax, orbit, memory, closed=memory.method != "once")
    for t, (h, k) in enumerate(zip(orbit, memory.word.indices, strict=True)):
        symbol = str(memory.word.alphabet[k]).replace(" ", "␣")
        step = str(t + 1).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
        ax.annotate(symbol + step, h * 1.2, ha="center", va="center", fontsize=8)
    ax.set(aspect="equal", xlabel="$h[0]$", ylabel="$h[1]$")


def walk(ax: Any, at: np.ndarray, memory: Memory, *, closed: bool) -> None:
    """Points of the plane in order, each in the colour of its symbol."""
    used = list(memory.word.used)
    ring = np.vstack([at, at[:1]]) if closed else at
    ax.plot(ring[:, 0], ring[:, 1], color="C7", lw=0.8)
    for point, k in zip(at, memory.word.indices, strict=True):
        ax.plot(*point, "o", ms=7, color=f"C{used.index(k) % 7}")


def walk_figure(memory: Memory) -> Figure:
    """Any memory's walk: its polygon, its one unit over time, or the two widest directions."""
    orbit = np.asarray(memory.written.orbit(memory.word.period), dtype=float)

    def draw() -> Any:
        fig, ax = plt.subplots(figsize=(4.2, 4.2))
        if memory.dimension == 2 and memory.written.activation == "linear":
            polygon(ax, memory)
        else:
            centred, names = orbit - orbit.mean(axis=0), ("first direction", "second direction")
            at = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
            if memory.dimension == 1:
                at, names = np.column_stack([np.arange(1, len(orbit) + 1), orbit]), ("step", "$h$")
            walk(ax, at, memory, closed=False)
            ax.set(xlabel=names[0], ylabel=names[1])
        ax.set_title(f"{memory.method}, d = {memory.dimension}")
        return fig

    return Figure(
        "walk",
        f"The walk of a {memory.method} memory",
        "The states of one period; colours are symbols.",
        draw,
        xr.Dataset({"orbit": (("step", "unit"), orbit)}),
    )
