"""Drawings of what the networks do: without frequencies, in training, beside the written one."""

import dataclasses
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...construct import Adder
from ...measure.ablation import Place
from ...tasks.modular import Modular
from .ablations import Ablations
from .dissection import Dissection
from .weights_drawn import name_of


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


PLACE_NAMES: dict[Place, str] = {
    "embedding": "embedding",
    "h1": "state after a",
    "h2": "state after b",
    "h3": "state after =",
    "unembedding": "unembedding",
}


def ablation_drawn(of: Findings):
    """Accuracy against how many frequencies are gone, a panel a place."""
    figure, axes = plt.subplots(
        1, 5, figsize=(12, 3), sharey=True, layout="constrained"
    )
    table = ablation_data(of)
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


def ablation_data(of: Findings) -> xr.Dataset:
    """Least, mean and most over subsets and seeds."""
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


def pairs_drawn(of: Findings):
    """Accuracy without each pair."""
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


def film_drawn(of: Findings):
    """Accuracies above, six frames of the spectrum below."""
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
    axis.annotate("train", (0.9, 0.4), xycoords="axes fraction", color="C7")
    axis.annotate("held out", (0.9, 0.28), xycoords="axes fraction", color="C0")
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


def written_drawn(of: Findings):
    """Margins of written adders, and how alike the learned one is."""
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
            label=name_of(name),
        )
    right.set(
        ylim=(0, 1.05), xlabel="principal direction", ylabel="cosine", title="alike"
    )
    right.legend(frameon=False)
    return figure


def counts_drawn(counts: xr.Dataset):
    """Counts against each setting."""
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
