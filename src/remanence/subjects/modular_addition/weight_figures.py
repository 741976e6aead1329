"""Pictures of what is inside the weights: spectra, singular values and vectors."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...measure.fourier import signed_axis
from ...report import Figure
from .dissection import Dissection, NODES


SHOWN, STATES = ("W_E", "h1", "W_fc"), ("h2", "h3")


def name_of(node: str) -> str:
    """A node in the document's letters."""
    letter, _, below = node.partition("_")
    return f"${letter}_{{{below}}}$" if below else f"${node[0]}_{node[1:]}$"


def spectra_figure(d: Dissection) -> Figure:
    """Shares by frequency above, energies over two frequencies below."""
    half, signed = d.task.period // 2, signed_axis(d.task.period)
    data = xr.Dataset(
        {
            "share": (("node", "frequency"), [d.nodes[n].shares for n in NODES]),
            "threshold": ("node", [d.nodes[n].threshold for n in NODES]),
            "plane": (("state", "k_a", "k_b"), [d.planes[n] for n in STATES]),
        },
        coords={"node": list(NODES), "frequency": 1 + np.arange(half), "k_b": signed},
    )

    def draw() -> Any:
        figure = plt.figure(figsize=(9, 6))
        halves: Any = figure.subfigures(2, 1, height_ratios=(1, 1.5))
        top, bottom = halves
        for axis, node in zip(top.subplots(1, 3, sharey=True), SHOWN, strict=True):
            key, at = d.nodes[node].frequencies, data.sel(node=node)
            colours = np.where(np.isin(data.frequency, key), "C0", "C7")
            axis.bar(data.frequency, at.share, color=colours, width=0.9)
            axis.axhline(float(at.threshold), color="C1", lw=1)
            axis.set_xlabel("frequency k")
            axis.set_title(f"{name_of(node)}: {', '.join(map(str, key))}", fontsize="small")
        top.axes[0].set_ylabel("share of energy")
        for axis, node in zip(bottom.subplots(1, 2), STATES, strict=True):
            plane = d.planes[node].copy()
            plane[0, np.flatnonzero(signed == 0)] = 0.0  # the constant
            share = plane / plane.sum()
            a, b = np.nonzero(share > 1e-3)
            for sign in (1, -1):
                axis.plot([0, sign * half], [0, half], color="C7", lw=0.7, ls=":")
            # With an edge the least of them are seen on dark paper too.
            style = {"s": 300 * np.sqrt(share[a, b]), "vmin": 0, "edgecolors": "C7", "lw": 0.6}
            dots = axis.scatter(signed[b], a, c=share[a, b], **style)
            axis.set(title=name_of(node), xlabel="frequency in b", ylabel="frequency in a")
            axis.set(xlim=(-half - 1, half + 1), ylim=(-1, half + 1))
            bottom.colorbar(dots, ax=axis, label="share of energy")
        return figure

    caption = "Energy by frequency. Above: nodes of one index, in shares of what is not constant; the line is what the largest frequency of shuffled rows reaches in 1 % of cases. Below: the states of two indices, a dot where more than a thousandth of the energy is; functions of a + b lie on the rising diagonal, of a − b on the falling one."
    return Figure("spectra", "Every tensor has the same few frequencies", caption, draw, data)


def singular_values_figure(d: Dissection) -> Figure:
    """Singular values with the smallest rank marked, accuracy behind."""

    def draw() -> Any:
        figure, axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True)
        for axis, (name, low) in zip(axes, d.ranks.items(), strict=True):
            s, kept = low.singular_values, ""
            axis.semilogy(1 + np.arange(len(s)), s, color="C0")
            if low.rank is not None and low.energy is not None:
                axis.axvline(low.rank, color="C1", lw=1.2)
                kept = f": rank {low.rank}, {100 * low.energy:.1f} %"
            axis.set(title=f"{name_of(name)}{kept}", xlabel="index, or rank kept")
            behind = axis.twinx()
            behind.plot(1 + np.arange(len(low.accuracies)), low.accuracies, color="C7", lw=1)
            behind.set(ylim=(0, 1.05), yticks=[])
            if axis is axes[-1]:
                behind.spines["right"].set_visible(True)
                behind.set(yticks=[0, 0.5, 1], ylabel="accuracy (grey)")
        axes[0].set_ylabel("singular value")
        return figure

    values = {n: (f"index of {n}", low.singular_values) for n, low in d.ranks.items()}
    kept = {f"accuracy of {n}": (f"rank of {n}", low.accuracies) for n, low in d.ranks.items()}
    caption = "Grey: accuracy of the network with this one matrix cut to that rank. The mark is the smallest rank with the network's own accuracy; above, that rank and the share of energy it holds."
    return Figure(
        "singular-values",
        "Singular values, and the rank that keeps every answer",
        caption,
        draw,
        xr.Dataset(values | kept),
    )


def singular_vectors_figure(d: Dissection) -> Figure:
    """The first vectors, coloured by their frequency."""

    def draw() -> Any:
        vectors, frequencies, shares = d.vectors
        count = min(vectors.shape[1], 12)
        rows = (count + 1) // 2
        shared: Any = {"sharex": True, "sharey": True, "squeeze": False}
        figure, axes = plt.subplots(rows, 2, figsize=(9, 0.9 * rows + 0.6), **shared)
        colour = {k: f"C{i % 7}" for i, k in enumerate(dict.fromkeys(frequencies.tolist()))}
        for i, axis in enumerate(axes.ravel()[:count]):
            k = int(frequencies[i])
            axis.plot(vectors[:, i], color=colour[k], lw=1)
            title = f"$u_{{{i + 1}}}$: k = {k} ({100 * shares[i]:.0f} %)"
            axis.set_title(title, fontsize="small")
            axis.set_yticks([])
        for axis in axes[-1]:
            axis.set_xlabel("answer c")
        for axis in axes[:, 0]:
            axis.set_ylabel("entry")
        return figure

    caption = "Left singular vectors over the answers, with the frequency that holds most of each and its share."
    return Figure("singular-vectors", "Singular vectors of W_fc and their frequency", caption, draw)
