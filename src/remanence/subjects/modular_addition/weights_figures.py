"""Drawings of what is inside the weights: spectra, singular values and vectors."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...measure.fourier import signed_axis
from .dissection import Dissection


def spectra_drawn(d: Dissection):
    """Shares by frequency above, energies over two frequencies below."""
    figure = plt.figure(figsize=(9, 6), layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=(1, 1.5))
    top, bottom = halves
    k = np.arange(1, d.task.period // 2 + 1)
    for axis, node in zip(top.subplots(1, 3, sharey=True), ("W_E", "h1", "W_fc"), strict=True):
        shares = d.nodes[node]
        chosen = np.isin(k, shares.frequencies)
        axis.bar(k, shares.shares, color=np.where(chosen, "C0", "C7"), width=0.9)
        axis.axhline(shares.threshold, color="C1", lw=1)
        axis.set(title=name_of(node), xlabel="frequency k")
        for x, y, text in merged_labels(shares.frequencies, shares.shares):
            axis.annotate(text, (x, y), ha="center", va="bottom")
        axis.margins(y=0.15)
    top.axes[0].set_ylabel("share of energy")
    signed = signed_axis(d.task.period)
    half = d.task.period // 2
    for axis, node in zip(bottom.subplots(1, 2), ("h2", "h3"), strict=True):
        plane = d.planes[node].copy()
        plane[0, np.flatnonzero(signed == 0)] = 0.0  # the constant
        share = plane / plane.sum()
        a, b = np.nonzero(share > 1e-3)
        for sign in (1, -1):
            axis.plot([0, sign * half], [0, half], color="C7", lw=0.7, ls=":")
        size = 300 * np.sqrt(share[a, b])
        # With an edge the least of them are seen on dark paper too.
        dots = axis.scatter(signed[b], a, s=size, c=share[a, b], vmin=0, edgecolors="C7", lw=0.6)
        axis.set(title=name_of(node), xlabel="frequency in b", ylabel="frequency in a")
        axis.set(xlim=(-half - 1, half + 1), ylim=(-1, half + 1))
        bottom.colorbar(dots, ax=axis, label="share of energy")
    return figure


def merged_labels(frequencies: Sequence[int], shares: np.ndarray) -> list[tuple[float, float, str]]:
    """Where the numbers of the bars stand: neighbours too near for two share one label."""
    letter, line = 0.04 * len(shares), 0.12 * float(np.max(shares))

    def label(group: list[int]) -> tuple[float, float, str]:
        top = max(float(shares[k - 1]) for k in group)
        return float(np.mean(group)), top, ", ".join(map(str, group))

    groups: list[list[int]] = []
    for one in sorted(frequencies):
        group = [int(one)]
        while groups:
            (x, y, text), (x0, y0, text0) = label(group), label(groups[-1])
            widths = letter * len(text) / 2, letter * len(text0) / 2
            side_by_side = abs(y - y0) < line and x - x0 < sum(widths)
            into_a_bar = group[0] - groups[-1][-1] < widths[y > y0] + 0.5
            if not (side_by_side or into_a_bar):
                break
            group = groups.pop() + group
        groups.append(group)
    return [label(group) for group in groups]


def spectra_data(d: Dissection) -> xr.Dataset:
    """The bars and their thresholds."""
    nodes = ("W_E", "h1", "W_fc")
    return xr.Dataset(
        {
            "share": (("node", "frequency"), [d.nodes[n].shares for n in nodes]),
            "threshold": ("node", [d.nodes[n].threshold for n in nodes]),
        },
        coords={"node": list(nodes), "frequency": 1 + np.arange(d.task.period // 2)},
    )


def singular_values_drawn(d: Dissection):
    """Singular values with the smallest rank marked, accuracy behind.

    The rank and its energy stand in the title, where no curve is.
    """
    figure, axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True, layout="constrained")
    for axis, (name, low) in zip(axes, d.ranks.items(), strict=True):
        s = low.singular_values
        axis.semilogy(1 + np.arange(len(s)), s, color="C0")
        kept = ""
        if low.rank is not None and low.energy is not None:
            axis.axvline(low.rank, color="C1", lw=1.2)
            kept = f": rank {low.rank}, {100 * low.energy:.1f} %"
        axis.set(title=f"{name_of(name)}{kept}", xlabel="index, or rank kept")
        twin = axis.twinx()
        twin.plot(1 + np.arange(len(low.accuracies)), low.accuracies, color="C7", lw=1)
        twin.set(ylim=(0, 1.05), yticks=[0, 0.5, 1] if axis is axes[-1] else [])
        if axis is axes[-1]:
            twin.spines["right"].set_visible(True)
            twin.set_ylabel("accuracy (grey)")
    axes[0].set_ylabel("singular value")
    return figure


def singular_data(d: Dissection) -> xr.Dataset:
    """Singular values and accuracies by rank."""
    return xr.Dataset(
        {name: (f"index of {name}", low.singular_values) for name, low in d.ranks.items()}
        | {
            f"accuracy of {name}": (f"rank of {name}", low.accuracies)
            for name, low in d.ranks.items()
        }
    )


def singular_vectors_drawn(d: Dissection):
    """The first vectors, coloured by their frequency."""
    vectors, frequencies, shares = d.vectors
    count = min(vectors.shape[1], 12)
    figure, axes = plt.subplots(
        (count + 1) // 2,
        2,
        figsize=(9, 0.9 * ((count + 1) // 2) + 0.6),
        sharex=True,
        sharey=True,
        layout="constrained",
        squeeze=False,
    )
    colour = {k: f"C{i % 7}" for i, k in enumerate(dict.fromkeys(frequencies.tolist()))}
    for i, axis in enumerate(axes.ravel()[:count]):
        k = int(frequencies[i])
        axis.plot(vectors[:, i], color=colour[k], lw=1)
        axis.set_title(f"$u_{{{i + 1}}}$: k = {k} ({100 * shares[i]:.0f} %)", fontsize="small")
        axis.set_yticks([])
    for axis in axes[-1]:
        axis.set_xlabel("answer c")
    for axis in axes[:, 0]:
        axis.set_ylabel("entry")
    return figure


def name_of(node: str) -> str:
    """A node in the document's letters."""
    letter, _, below = node.partition("_")
    return f"${letter}_{{{below}}}$" if below else f"${node[0]}_{node[1:]}$"
