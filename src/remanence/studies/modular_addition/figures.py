"""The pictures of the study: the document's four, the film, and what lies beyond."""

import dataclasses
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...construct import Adder
from ...measure.ablation import Place
from ...measure.fourier import signed_axis
from ...report import Figure
from ...tasks.modular import Modular
from .ablations import Ablations
from .dissection import Dissection
from .film import film_figure
from .graph import graph_figure


@dataclasses.dataclass(frozen=True)
class Findings:
    """Everything that is drawn."""

    task: Modular
    seeds: tuple[int, ...]
    histories: xr.Dataset
    found: list[Dissection]
    cuts: list[Ablations]
    pairs: xr.DataArray | None
    twin: Adder
    margins: xr.Dataset
    alike: dict[str, Any]
    counts: xr.Dataset


def pictures(of: Findings) -> tuple[Figure, ...]:
    """All figures, in the order in which the story is told."""
    d = of.found[0]
    few = ", ".join(map(str, d.key))
    figures = [
        Figure(
            "graph",
            "The computation",
            f"The unrolled network modulo {of.task.modulus}; under each node the share of "
            f"its energy that the key frequencies of W_fc ({few}) hold (seed {of.seeds[0]}).",
            lambda: graph_figure(d),
        ),
        Figure(
            "spectra",
            "Every node speaks the same few frequencies",
            "Energy by frequency. Above: nodes of one index, in shares of what is not "
            "constant; the line is what the largest frequency of shuffled rows reaches in "
            "1 % of cases. Below: the states of two indices; functions of a + b lie on the "
            "rising diagonal, of a − b on the falling one.",
            lambda: _spectra(d),
            _spectra_data(d),
        ),
        Figure(
            "singular-values",
            "Singular values, and the rank that keeps every answer",
            "Grey: accuracy of the network with this one matrix cut to that rank. "
            "The mark is the smallest rank with 100 %, with the energy it holds.",
            lambda: _singular_values(d),
            _singular_data(d),
        ),
        Figure(
            "singular-vectors",
            "Singular vectors of W_fc and their frequency",
            "Left singular vectors over the answers, with the frequency that holds most "
            "of each and its share.",
            lambda: _singular_vectors(d),
        ),
        Figure(
            "ablation",
            "Frequencies removed",
            "Accuracy over all pairs against the number of key frequencies removed, in each "
            "place: mean over subsets and seeds, band from least to most. Grey: as many "
            "frequencies that are not key, from the embedding.",
            lambda: _ablation(of),
            _ablation_data(of),
        ),
        Figure(
            "film",
            "Frequencies appear before the held-out answers do",
            "Above: accuracy during training, all seeds. Below: energy of the embedding by "
            "frequency at six moments of the first seed.",
            lambda: _film(of),
            of.histories,
        ),
        Figure(
            "film-animated",
            "The film of the spectrum",
            "Energy of embedding and unembedding by frequency throughout training (the SVG "
            "moves, in a loop of eight seconds; the PNG shows the end).",
            lambda: film_figure(of.histories.isel(seed=0)),
        ),
        Figure(
            "written",
            "Learned and written down",
            "Left: margin of the written adder against its number of frequencies. Right: "
            "cosines of the principal angles between learned and written subspaces at the "
            "same frequencies (1: the same direction).",
            lambda: _written(of),
            of.margins,
        ),
        Figure(
            "counts",
            "How many frequencies",
            "Key frequencies of W_fc as one setting varies; a dot is a seed that reached "
            "99 % of held-out pairs, the line their mean.",
            lambda: _counts(of.counts),
            of.counts,
        ),
    ]
    if of.pairs is not None:
        figures.insert(
            5,
            Figure(
                "pairs",
                "Every pair of frequencies removed",
                "Accuracy without two frequencies in the unembedding (one on the diagonal).",
                lambda: _pairs(of),
                of.pairs.to_dataset(),
            ),
        )
    return tuple(figures)


def _spectra(d: Dissection):
    figure = plt.figure(figsize=(9, 6), layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=(1, 1.5))
    top, bottom = halves
    k = np.arange(1, d.task.period // 2 + 1)
    for axis, node in zip(
        top.subplots(1, 3, sharey=True), ("W_E", "h1", "W_fc"), strict=True
    ):
        shares = d.nodes[node]
        chosen = np.isin(k, shares.frequencies)
        axis.bar(k, shares.shares, color=np.where(chosen, "C0", "C7"), width=0.9)
        axis.axhline(shares.threshold, color="C1", lw=1)
        axis.set(title=_name(node), xlabel="frequency k")
        for one in shares.frequencies:
            axis.annotate(
                str(one), (one, shares.shares[one - 1]), ha="center", va="bottom"
            )
        axis.margins(y=0.15)
    top.axes[0].set_ylabel("share of energy")
    signed = signed_axis(d.task.period)
    for axis, node in zip(bottom.subplots(1, 2), ("h2", "h3"), strict=True):
        plane = d.planes[node].copy()
        plane[0, np.flatnonzero(signed == 0)] = np.nan  # the constant
        share = plane / np.nansum(plane)
        extent = (signed[0] - 0.5, signed[-1] + 0.5, -0.5, len(plane) - 0.5)
        image = axis.imshow(
            np.sqrt(share), origin="lower", extent=extent, aspect="auto", cmap="viridis"
        )
        axis.set(title=_name(node), xlabel="frequency in b", ylabel="frequency in a")
        bottom.colorbar(image, ax=axis, label="root of energy share")
    return figure


def _spectra_data(d: Dissection) -> xr.Dataset:
    nodes = ("W_E", "h1", "W_fc")
    return xr.Dataset(
        {
            "share": (("node", "frequency"), [d.nodes[n].shares for n in nodes]),
            "threshold": ("node", [d.nodes[n].threshold for n in nodes]),
        },
        coords={"node": list(nodes), "frequency": 1 + np.arange(d.task.period // 2)},
    )


def _singular_values(d: Dissection):
    figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
    for axis, (name, low) in zip(axes, d.ranks.items(), strict=True):
        s = low.singular_values
        axis.semilogy(1 + np.arange(len(s)), s, color="C0")
        axis.set(title=_name(name), xlabel="index")
        twin = axis.twinx()
        twin.plot(1 + np.arange(len(low.accuracies)), low.accuracies, color="C7", lw=1)
        twin.set(ylim=(0, 1.05), yticks=[])
        if low.rank is not None and low.energy is not None:
            axis.axvline(low.rank, color="C1")
            axis.annotate(
                f" rank {low.rank}\n {100 * low.energy:.1f} %",
                (low.rank, 0.98),
                xycoords=("data", "axes fraction"),
                va="top",
            )
    axes[0].set_ylabel("singular value")
    return figure


def _singular_data(d: Dissection) -> xr.Dataset:
    return xr.Dataset(
        {
            name: (f"index of {name}", low.singular_values)
            for name, low in d.ranks.items()
        }
        | {
            f"accuracy of {name}": (f"rank of {name}", low.accuracies)
            for name, low in d.ranks.items()
        }
    )


def _singular_vectors(d: Dissection):
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
        axis.set_title(f"u{i + 1}: k = {k} ({100 * shares[i]:.0f} %)", fontsize="small")
        axis.set_yticks([])
    for axis in axes[-1]:
        axis.set_xlabel("answer c")
    return figure


PLACE_NAMES: dict[Place, str] = {
    "embedding": "embedding",
    "h1": "state after a",
    "h2": "state after b",
    "h3": "state after =",
    "unembedding": "unembedding",
}


def _ablation(of: Findings):
    figure, axes = plt.subplots(
        1, 5, figsize=(12, 3), sharey=True, layout="constrained"
    )
    table = _ablation_data(of)
    for i, (axis, place) in enumerate(zip(axes, PLACE_NAMES, strict=True)):
        at = table.sel(place=place)
        if place == "embedding":
            axis.plot(table.removed, table.control, color="C7", marker=".")
        axis.fill_between(at.removed, at.least, at.most, color=f"C{i}", alpha=0.2, lw=0)
        axis.plot(at.removed, at["mean"], color=f"C{i}", marker="o")
        axis.axhline(1 / of.task.modulus, color="C7", lw=1, ls=":")
        axis.set(title=PLACE_NAMES[place], xlabel="key frequencies removed")
    axes[0].set_ylabel("accuracy, all pairs")
    return figure


def _ablation_data(of: Findings) -> xr.Dataset:
    most = max(len(cut.control) for cut in of.cuts)
    numbers = np.full((3, len(PLACE_NAMES), most), np.nan)
    control = np.full(most, np.nan)
    for size in range(most):
        for j, place in enumerate(PLACE_NAMES):
            values = [
                a
                for cut in of.cuts
                if size < len(cut.growing[place])
                for a in cut.growing[place][size]
            ]
            if values:
                numbers[:, j, size] = min(values), np.mean(values), max(values)
        control[size] = np.mean(
            [a for cut in of.cuts if size < len(cut.control) for a in cut.control[size]]
        )
    return xr.Dataset(
        {
            name: (("place", "removed"), numbers[i])
            for i, name in enumerate(("least", "mean", "most"))
        }
        | {"control": ("removed", control)},
        coords={"place": list(PLACE_NAMES), "removed": np.arange(most)},
    )


def _pairs(of: Findings):
    assert of.pairs is not None
    figure, axis = plt.subplots(figsize=(5.2, 4.4), layout="constrained")
    n = len(of.pairs)
    image = axis.imshow(
        of.pairs, origin="lower", extent=(0.5, n + 0.5, 0.5, n + 0.5), vmin=0, vmax=1
    )
    axis.set(xlabel="frequency removed", ylabel="frequency removed")
    axis.set_xticks(of.found[0].key)
    axis.set_yticks(of.found[0].key)
    figure.colorbar(image, ax=axis, label="accuracy, all pairs")
    return figure


def _film(of: Findings):
    figure = plt.figure(figsize=(10, 5), layout="constrained")
    halves: Any = figure.subfigures(2, 1)
    top, bottom = halves
    axis = top.subplots()
    one = of.histories.isel(seed=0)
    shown = _moments(one)
    for seed in of.histories.seed:
        run = of.histories.sel(seed=seed)
        axis.plot(run.step, run.train, color="C7", lw=1)
        axis.plot(run.step, run.held_out, color="C0", lw=1)
    for i in shown:
        axis.axvline(int(one.step[i]), color="C1", lw=0.7, ls=":")
    axis.set(xlabel="step", ylabel="accuracy")
    axis.annotate("train", (0.02, 0.9), xycoords="axes fraction", color="C7")
    axis.annotate("held out", (0.02, 0.78), xycoords="axes fraction", color="C0")
    energy = one.energy.sel(tensor="W_E").values[:, 1:]
    share = energy / energy.sum(1, keepdims=True)
    for panel, i in zip(
        bottom.subplots(1, len(shown), sharey=True), shown, strict=True
    ):
        panel.bar(1 + np.arange(share.shape[1]), share[i], color="C0", width=0.9)
        panel.set(title=f"step {int(one.step[i])}", xlabel="k")
    bottom.axes[0].set_ylabel("share of W_E")
    return figure


def _moments(one: xr.Dataset) -> list[int]:
    """The start, the end, and where held-out accuracy passes four levels between."""
    accuracy = one.held_out.values
    passed = [int(np.argmax(accuracy >= level)) for level in (0.1, 0.5, 0.9, 0.999)]
    chosen = sorted({0, *passed, len(accuracy) - 1})
    spare = np.linspace(0, len(accuracy) - 1, 12).astype(int).tolist()
    while len(chosen) < 6 and spare:
        chosen = sorted({*chosen, spare.pop()})
    return chosen[:6]


def _written(of: Findings):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for i, waves in enumerate(of.margins.waves.values):
        label = "with doubled waves" if waves == "doubled" else "single waves"
        at = of.margins.sel(waves=waves)
        left.plot(at.frequencies, at.margin, color=f"C{i}", marker="o", label=label)
    left.set(
        xlabel="frequencies", ylabel="margin", title=f"written, P = {of.task.modulus}"
    )
    left.set_ylim(bottom=0)
    left.legend(frameon=False)
    for i, (name, cosines) in enumerate(of.alike["cosines"].items()):
        right.plot(
            1 + np.arange(len(cosines)),
            cosines,
            color=f"C{i}",
            marker="o",
            label=_name(name),
        )
    right.set(
        ylim=(0, 1.05), xlabel="principal direction", ylabel="cosine", title="alike"
    )
    right.legend(frameon=False)
    return figure


def _counts(counts: xr.Dataset):
    figure, axes = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
    labels = {
        "fraction": "train fraction",
        "decay": "weight decay",
        "width": "hidden units",
    }
    for i, (axis, name) in enumerate(zip(axes, labels, strict=True)):
        values = counts[f"count by {name}"].transpose(name, "seed").values
        at = counts[name].values
        for row in values.T:
            axis.plot(at, row, ".", color=f"C{i}", alpha=0.6)
        learned = np.isfinite(values)
        mean = [
            np.mean(row[ok]) if ok.any() else np.nan
            for row, ok in zip(values, learned, strict=True)
        ]
        axis.plot(at, mean, color=f"C{i}")
        axis.set(xlabel=labels[name])
        if name != "fraction":
            axis.set_xscale("log", base=2)
    axes[0].set_ylabel("key frequencies")
    axes[0].set_ylim(bottom=0)
    return figure


def _name(node: str) -> str:
    letter, _, below = node.partition("_")
    return f"${letter}_{{{below}}}$" if below else f"${node[0]}_{node[1:]}$"
