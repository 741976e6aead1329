"""The figures of the study: walks, what a memory costs, and memories that were learned."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.colors import ListedColormap

from ...report import Figure
from .atlas import counting_bound, largest_dimensions
from .frontier import frontier_table, Point
from .learned import Modes, needed
from .memorize import memorize
from .memory import Memory


def figures(word: str, results: Mapping[str, Any]) -> tuple[Figure, ...]:
    """Everything that is drawn, in order."""
    atlas, least, learned = (results[name] for name in ("atlas", "least factors", "learned"))
    eigenvalues = _eigenvalues(results["modes"])
    words = ("00000111", "abracadabra", "0001", "hello world")
    return (
        walk_figure(
            {word: memorize(word, method="rotation") for word in words},
            "polygons",
            "Two units: a walk round a polygon",
            "The state h_t (numbered by step) and the regions in which each symbol has the "
            "largest logit. p steps make one turn, or as many as the chosen frequency.",
        ),
        frontier_figure(word, list(results["frontier"].values())),
        Figure(
            "atlas",
            "How small can d be?",
            "All necklaces (up to rotation and renaming), every minimum proved. Left: the share of "
            "binary ones that needs each dimension, over the reals and over the rationals. Right: "
            "the largest that some word of the period needs, and what counting alone proves.",
            partial(_draw_atlas, atlas),
            atlas,
        ),
        Figure(
            "stability",
            "How stable can one unit be?",
            "Every binary necklace: the least |a| with which h' = ah + c_x says it, exact. Below "
            "the grey line the memory contracts; the dotted line is the shift map, which serves "
            "every word. Orange: the most that a word of the period needs.",
            partial(_draw_stability, least),
            least,
        ),
        Figure(
            "learned",
            "Memories that were learned",
            "Share of seeds whose network says the word for the periods it was shown, and for "
            "ten. The grey line is d*, below which no linear network keeps a word for ever without feedback; bars are "
            "one standard error over seeds.",
            partial(_draw_learned, learned),
            learned[["learned", "kept", "loss"]],
        ),
        Figure(
            "eigenvalues",
            "Where learned memories live",
            "Eigenvalues of learned W_h that carry the logits, with the unit circle and the "
            "p-th roots of unity (crosses); colours are numbers of units. Cross-entropy rewards "
            "growing logits, so training overshoots the circle.",
            partial(_draw_eigenvalues, eigenvalues),
            eigenvalues,
        ),
    )


def walk_figure(memories: dict[str, Memory], name: str, title: str, caption: str) -> Figure:
    """Walks by their titles: a polygon, one unit over time, or the two widest directions."""
    orbits = [np.asarray(m.written.orbit(m.word.period), float) for m in memories.values()]

    def draw() -> Any:
        count = len(memories)
        size = (max(4.2, 3.1 * count), 3.3 if count > 1 else 4.2)
        fig, axes = plt.subplots(1, count, figsize=size, squeeze=False)
        for ax, memory, orbit, above in zip(
            axes[0], memories.values(), orbits, memories, strict=True
        ):
            ax.set_title(above)
            if memory.dimension == 2 and memory.written.activation == "linear":
                polygon(ax, memory)
                continue
            centred, names = orbit - orbit.mean(axis=0), ("first direction", "second direction")
            at = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
            if memory.dimension == 1:
                at, names = np.column_stack([np.arange(1, len(orbit) + 1), orbit]), ("step", "$h$")
            walk(ax, at, memory, closed=False)
            ax.set(xlabel=names[0], ylabel=names[1])
        return fig

    data = {f"orbit_{i}": ((f"step_{i}", "unit"), orbit) for i, orbit in enumerate(orbits)}
    return Figure(name, title, caption, draw, xr.Dataset(data))


def polygon(ax: Any, memory: Memory) -> None:
    """One walk in the plane with its argmax regions."""
    orbit, used = memory.written.orbit(memory.word.period), list(memory.word.used)
    reach = 1.45 * max(1.0, float(np.abs(orbit).max()))
    plane = np.stack(np.meshgrid(*[np.linspace(-reach, reach, 400)] * 2))
    logits = np.tensordot(memory.written.W_y, plane, 1) + memory.written.b_y[:, None, None]
    regions = logits[used].argmax(axis=0)
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


def frontier_figure(word: str, points: list[Point]) -> Figure:
    """Every construction of one word: dimension, stability, precision, noise."""
    table = frontier_table(points)
    return Figure(
        "frontier",
        f"The frontier of “{word}”",
        "Fewer units cost stability or precision. Left: the largest Lyapunov exponent. "
        "Middle: binary places to which the state must be kept for one period. Right: "
        "the largest perturbation of the state that is harmless in every drawn direction.",
        partial(_draw_frontier, table),
        table,
    )


def _draw_frontier(table: xr.Dataset):
    panels = {
        "exponent": "largest exponent (nats/step)",
        "bits": "binary places of state",
        "measured_noise": "harmless perturbation (2-norm)",
    }
    fig, axes = plt.subplots(1, 3, figsize=(12, 3.8))
    for ax, (field, label) in zip(axes, panels.items(), strict=True):
        for method, mark in zip(table.method.values, "osD^vP", strict=False):
            one = table.sel({"method": method})  # `sel(method=…)` is how to round
            look = {"ms": 8, "mfc": "none", "mew": 1.8}  # those that lie on others are seen
            ax.plot(one.dimension, one[field], mark, label=method, **look)
        ax.set(xlabel="dimension d", ylabel=label)
    axes[0].axhline(0, color="C7", lw=0.8)
    axes[0].legend()
    return fig


def _draw_atlas(atlas: xr.Dataset):
    fig, axes = plt.subplots(1, 3, figsize=(14, 3.8), layout="constrained")
    binary = atlas.sel(symbols=2)
    image: Any = None
    for ax, field in zip(axes, ("real", "rational"), strict=False):
        share = (binary[field] / binary[field].sum("dimension")).transpose("dimension", "period")
        at = (atlas.period, atlas.dimension)
        image = ax.pcolormesh(*at, share.where(share > 0), cmap="viridis", vmin=0, vmax=1)
        top = atlas.dimension.where(share > 0).max("dimension")
        ax.step(atlas.period, top, where="mid", color="C1", label="largest needed")
        ax.set(xlabel="period p", title=f"two symbols, {field}", ylabel="minimal dimension d*")
    axes[0].legend()
    fig.colorbar(image, ax=axes[:2], label="share of necklaces")
    for i, n in enumerate(atlas.symbols.values):
        largest = largest_dimensions(atlas["real"].sel(symbols=n))
        style = {"color": f"C{i + 1}", "label": f"{n} symbols"}
        axes[2].plot(list(largest), list(largest.values()), "o-", ms=4, **style)
    bound = [counting_bound(int(p)) for p in atlas.period]
    style = {"color": "C7", "label": "2 symbols, proved by counting"}
    axes[2].step(atlas.period, bound, where="mid", **style)
    axes[2].set(xlabel="period p", ylabel="largest d* of the period", title="growth, real")
    axes[2].set_ylim(bottom=0)
    axes[2].legend()
    for ax in axes:  # periods and dimensions are whole numbers
        ax.locator_params(integer=True)
    return fig


def _draw_stability(least: xr.Dataset):
    fig, ax = plt.subplots(figsize=(6, 3.8))
    for p, values in least.least.groupby(least.period):
        # Side by side within a period, from the most stable on.
        at = p + 0.7 * (np.arange(values.size) + 0.5) / values.size - 0.35
        ax.plot(at, np.sort(values), ".", color="C0", ms=4)
        ax.plot([p - 0.35, p + 0.35], [values.max()] * 2, color="C1", lw=1)
    ax.axhline(1, color="C7", lw=0.8, zorder=0)
    ax.axhline(2, color="C7", lw=0.8, ls=":", zorder=0)
    ax.set(xlabel="period p", ylabel="least |a| of one unit")
    return fig


def _draw_learned(table: xr.Dataset):
    words = [str(word) for word in table.word.values]
    size = (3.4 * len(words) + 1.6, 3.3)
    fig, axes = plt.subplots(1, len(words), figsize=size, sharey=True, squeeze=False)
    for ax, word in zip(axes[0], words, strict=True):
        for i, kind in enumerate(("linear", "tanh")):
            for field, dash, name in (("learned", "-", "shown"), ("kept", "--", "ten periods")):
                share = table[field].sel(word=word, kind=kind).astype(float).mean("seed")
                error = np.sqrt(share * (1 - share) / table.sizes["seed"])
                look = {"ls": dash, "color": f"C{i}", "label": f"{kind}, {name}"}
                ax.errorbar(table.units, share, error, **look)
        ax.axvline(needed(word), color="C7", lw=1)
        ax.set(title=f"{word}: d* = {needed(word)}", xlabel="units")
    axes[0][0].set_ylabel("share of seeds")
    axes[0][-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return fig


def _eigenvalues(found: list[Modes]) -> xr.Dataset:
    flat = [(m.word, m.units, z.real, z.imag) for m in found for z in m.eigenvalues]
    kinds = {"word": np.str_, "units": int, "re": float, "im": float}
    columns = zip(kinds.items(), zip(*flat, strict=True) if flat else [()] * 4, strict=True)
    return xr.Dataset({n: ("eigenvalue", np.array(x, dtype=kind)) for (n, kind), x in columns})


def _draw_eigenvalues(table: xr.Dataset):
    words = list(dict.fromkeys(table.word.values.tolist())) or [""]
    fig, axes = plt.subplots(1, len(words), figsize=(3.6 * len(words), 3.6), squeeze=False)
    for ax, word in zip(axes[0], words, strict=True):
        for count, look in ((200, "-"), (len(word) or 1, "+")):
            angles = 2 * np.pi * np.arange(count) / count
            ax.plot(np.cos(angles), np.sin(angles), look, color="C7", lw=0.8, ms=10)
        said = table.isel(eigenvalue=table.word.values == word)
        for d in np.unique(said.units):
            part = said.isel(eigenvalue=said.units.values == d)
            ax.plot(part.re, part.im, ".", color=f"C{d % 7}", alpha=0.6, label=f"{d} units")
        ax.set(aspect="equal", title=word, xlabel="Re λ", ylabel="Im λ")
        if word:
            ax.legend(loc="center")
    return fig
