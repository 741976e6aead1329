"""The pictures: what is inside the weights, and what networks do, in training and without waves."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...measure.low_rank import LowRank
from ...report import Figure, figure
from .ablation import Ablations, PLACES
from .dissection import Dissection
from .recipes import one_dial


def _letters(node: str) -> str:
    letter, _, below = node.partition("_")
    return f"${letter}_{{{below}}}$" if below else f"${node[0]}_{node[1:]}$"


@figure(
    "spectra",
    "Every tensor has the same few frequencies",
    "Energy by frequency. Above: nodes of one index, in shares of what is not constant; the line is what the largest frequency of shuffled rows reaches in 1 % of cases. Below: the states of two indices, a dot where more than a thousandth of the energy is; functions of a + b lie on the rising diagonal, of a − b on the falling one.",
)
def _spectra(data: xr.Dataset) -> Any:
    drawing: Any = plt.figure(figsize=(9, 6))
    top, bottom = drawing.subfigures(2, 1, height_ratios=(1, 1.5))
    for axis, node in zip(top.subplots(1, 3, sharey=True), ("W_E", "h1", "W_fc"), strict=True):
        at = data.sel(node=node)
        colours, key = np.where(at.key, "C0", "C7"), data.frequency.values[at.key]
        axis.bar(data.frequency, at.share, color=colours, width=0.9)
        axis.axhline(float(at.threshold), color="C1", lw=1)
        axis.set_xlabel("frequency k")
        above = textwrap.fill(", ".join(map(str, key)), 30)
        axis.set_title(f"{_letters(node)}: {key.size} frequencies\n{above}", fontsize="small")
    top.axes[0].set_ylabel("share of energy")
    signed, half = data.k_b.values, data.sizes["frequency"]
    for axis, state in zip(bottom.subplots(1, 2), data.state.values, strict=True):
        plane = data.plane.sel(state=state).values.copy()
        plane[0, np.flatnonzero(signed == 0)] = 0.0  # the constant
        share = plane / plane.sum()
        a, b = np.nonzero(share > 1e-3)
        for sign in (1, -1):
            axis.plot([0, sign * half], [0, half], color="C7", lw=0.7, ls=":")
        # With an edge the least of them are seen on dark paper too.
        style = {"s": 300 * np.sqrt(share[a, b]), "vmin": 0, "edgecolors": "C7", "lw": 0.6}
        dots = axis.scatter(signed[b], a, c=share[a, b], **style)
        axis.set(title=_letters(state), xlabel="frequency in b", ylabel="frequency in a")
        axis.set(xlim=(-half - 1, half + 1), ylim=(-1, half + 1))
        bottom.colorbar(dots, ax=axis, label="share of energy")
    return drawing


@figure(
    "singular-values",
    "Singular values, and the rank that keeps every answer",
    "Grey: accuracy of the network with this one matrix cut to that rank. The mark is the smallest rank with the network's own accuracy; above, that rank and the share of energy it holds.",
)
def _singular_values(data: xr.Dataset, ranks: Mapping[str, LowRank]) -> Any:
    drawing, axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True)
    for axis, (name, low) in zip(axes, ranks.items(), strict=True):
        s, accuracy, kept = data[name], data[f"accuracy of {name}"], ""
        axis.semilogy(1 + np.arange(s.size), s, color="C0")
        if low.rank is not None and low.energy is not None:
            axis.axvline(low.rank, color="C1", lw=1.2)
            kept = f": rank {low.rank}, {100 * low.energy:.1f} %"
        axis.set(title=f"{_letters(name)}{kept}", xlabel="index, or rank kept")
        behind = axis.twinx()
        behind.plot(1 + np.arange(accuracy.size), accuracy, color="C7", lw=1)
        behind.set(ylim=(0, 1.05), yticks=[])
        if axis is axes[-1]:
            behind.spines["right"].set_visible(True)
            behind.set(yticks=[0, 0.5, 1], ylabel="accuracy (grey)")
    axes[0].set_ylabel("singular value")
    return drawing


@figure(
    "singular-vectors",
    "Singular vectors of W_fc and their frequency",
    "Left singular vectors over the answers, with the frequency that holds most of each and its share.",
)
def _singular_vectors(data: xr.Dataset) -> Any:
    rows = (data.sizes["vector"] + 1) // 2
    size: Any = {"figsize": (9, 0.9 * rows + 0.6), "squeeze": False}
    drawing, axes = plt.subplots(rows, 2, sharex=True, sharey=True, **size)
    frequencies = data.frequency.values.tolist()
    order = list(dict.fromkeys(frequencies))
    for i, (axis, k) in enumerate(zip(axes.flat, frequencies, strict=False)):
        one = data.isel(vector=i)
        axis.plot(one.entry, color=f"C{order.index(k) % 7}", lw=1)
        title = f"$u_{{{i + 1}}}$: k = {k} ({100 * float(one.share):.0f} %)"
        axis.set_title(title, fontsize="small")
        axis.set(xlabel="answer c", ylabel="entry", yticks=[])
        axis.label_outer()
    return drawing


def _by_place(data: xr.Dataset, draw_place: Callable[[Any, xr.Dataset, int], None]) -> Any:
    """Accuracy against how many frequencies are gone, a panel a place."""
    drawing, axes = plt.subplots(1, len(PLACES), figsize=(12, 3), sharey=True)
    for i, (axis, (place, name)) in enumerate(zip(axes, PLACES.items(), strict=True)):
        draw_place(axis, data.sel(place=place), i)
        axis.set(title=name, xlabel="key frequencies removed", xticks=data.removed)
    axes[0].set_ylabel("accuracy, all pairs")
    return drawing


def ablation_table(cuts: Sequence[Ablations]) -> xr.Dataset:
    """Least, mean and most accuracy over networks and subsets, by place and number removed."""
    stacked = lambda tables: xr.concat(tables, "network", join="outer")
    growing, over = stacked([cut.growing for cut in cuts]), ("network", "subset")
    columns = {"least": growing.min(over), "mean": growing.mean(over), "most": growing.max(over)}
    return xr.Dataset(columns | {"control": stacked([c.control for c in cuts]).mean(over)})


@figure(
    "ablation",
    "Frequencies removed",
    "Accuracy over all pairs against the number of key frequencies removed, in each place: mean over subsets and seeds, band from least to most. Grey: as many frequencies that are not key, from the embedding.",
)
def ablation_figure(data: xr.Dataset, modulus: int) -> Any:
    """Mean and band of every place, chance, and the controls."""

    def draw_place(axis: Any, at: xr.Dataset, i: int) -> None:
        if i == 0:
            axis.plot(at.removed, data.control, color="C7", marker=".")
        axis.fill_between(at.removed, at.least, at.most, color=f"C{i}", alpha=0.2, lw=0)
        axis.plot(at.removed, at["mean"], color=f"C{i}", marker="o")
        axis.axhline(1 / modulus, color="C7", lw=1, ls=":")

    return _by_place(data, draw_place)


@figure(
    "training",
    "Frequencies appear before the held-out answers do",
    "Above: accuracy during training, all seeds. Below: energy of the embedding by frequency at six moments of the first seed.",
)
def _training(histories: xr.Dataset) -> Any:
    drawing: Any = plt.figure(figsize=(10, 5))
    top, bottom = drawing.subfigures(2, 1)
    axis, one = top.subplots(), histories.isel(seed=0)
    axis.plot(histories.step, histories.train.T, color="C7", lw=1)
    axis.plot(histories.step, histories.held_out.T, color="C0", lw=1)
    axis.set(xlabel="step", ylabel="accuracy", title="train (grey) and held out")
    # Where held-out accuracy passes some levels, and the end.
    passed = {int(np.argmax(one.held_out.values >= x)) for x in (0.0, 0.05, 0.2, 0.5, 0.9)}
    shown = sorted(passed | {len(one.step) - 1})
    share = one.energy[:, 1:] / one.energy[:, 1:].sum("frequency")
    below = bottom.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for panel, i in zip(below, shown, strict=True):
        axis.axvline(int(one.step[i]), color="C1", lw=0.7, ls=":")
        panel.bar(1 + np.arange(share.shape[1]), share[i], color="C0", width=0.9)
        panel.set(title=f"step {int(one.step[i])}", xlabel="frequency k")
    below[0].set_ylabel("share of $W_E$")
    return drawing


@figure(
    "exact-adder",
    "Learned and written down",
    "Cosines of the principal angles between the subspaces of the learned matrices and of those written at the same frequencies (1: the same direction).",
)
def _exact_adder(data: xr.Dataset) -> Any:
    drawing, axis = plt.subplots(figsize=(5, 3.4))
    for name, values in data.items():
        look = {"marker": "o", "ms": 9 - 4 * len(axis.lines), "label": _letters(str(name))}
        axis.plot(1 + np.arange(values.size), values, **look)  # one is seen below the other
    axis.set(xlabel="principal direction", ylabel="cosine", ylim=(0, 1.05))
    axis.legend()
    return drawing


@figure(
    "learned-and-exact",
    "Learned and written, without the same frequencies",
    "Accuracy of the learned network and of the one written at its key frequencies against the number of those removed, in each place: mean over the same subsets.",
)
def _learned_and_exact(data: xr.Dataset) -> Any:

    def draw_place(axis: Any, at: xr.Dataset, i: int) -> None:
        for adder in at.adder.values:
            axis.plot(at.removed, at.accuracy.sel(adder=adder), marker="o", label=adder)
        if i == 0:
            axis.legend()

    return _by_place(data, draw_place)


@figure(
    "counts",
    "How many frequencies",
    "Key frequencies of W_fc with one dial of the recipe moved at a time, one colour per centre; a dot is a network that reached 99 % of held-out pairs, the line their mean.",
)
def recipes_figure(recipes: xr.Dataset) -> Any:
    """Counts against each dial that was moved, round each centre."""
    moved = one_dial(recipes)
    size: Any = {"figsize": (2.2 * len(moved) + 1, 3), "sharey": True, "squeeze": False}
    drawing, axes = plt.subplots(1, len(moved), **size)
    for axis, (dial, centres) in zip(axes[0], moved.items(), strict=True):
        values = sorted({value for counts in centres for value in counts[dial].values.tolist()})
        for i, counts in enumerate(centres):
            at = [values.index(value) for value in counts[dial].values.tolist()]
            axis.plot(at, counts, ".", color=f"C{i}", alpha=0.5)
            axis.plot(at, counts.mean("seed"), color=f"C{i}", marker="o")
        axis.set_xticks(range(len(values)), [str(value) for value in values])
        axis.set(xlabel=dial.replace("_", " "), xlim=(-0.3, len(values) - 0.7))
        axis.margins(y=0.1)  # so that no dot is cut at the top
    axes[0, 0].set(ylabel="key frequencies", ylim=(0, None))
    axes[0, 0].locator_params(axis="y", integer=True)
    return drawing


def figures(
    d: Dissection,
    cuts: Sequence[Ablations],
    data: Mapping[str, xr.Dataset],
    comparison: Mapping[str, Any],
) -> tuple[Figure, ...]:
    """All pictures: of the first network's weights, of all networks' removals and trainings."""
    values = {n: (f"index of {n}", low.singular_values) for n, low in d.ranks.items()}
    values |= {f"accuracy of {n}": (f"rank of {n}", r.accuracies) for n, r in d.ranks.items()}
    cosines = {name: (f"direction of {name}", c) for name, c in comparison["cosines"].items()}
    return (
        _spectra(d.spectra),
        _singular_values(xr.Dataset(values), d.ranks),
        _singular_vectors(d.vectors.isel(vector=slice(12))),
        ablation_figure(ablation_table(cuts), d.task.modulus),
        _training(data["training"]),
        _exact_adder(xr.Dataset(cosines)),
        _learned_and_exact(comparison["ablation"].to_dataset(name="accuracy")),
        recipes_figure(data["recipes"]),
    )
