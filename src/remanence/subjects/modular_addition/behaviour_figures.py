"""Drawings of what the networks do: without frequencies, in training, across recipes."""

import dataclasses
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from .ablation import Place
from .ablations import Ablations
from .dissection import Dissection
from .task import Modular


@dataclasses.dataclass(frozen=True)
class Findings:
    """Everything that is drawn."""

    task: Modular
    seeds: tuple[int, ...]
    histories: xr.Dataset
    found: list[Dissection]
    cuts: list[Ablations]
    twin: Dissection
    """The adder that was written at the first network's frequencies."""
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
    figure, axes = plt.subplots(1, 5, figsize=(12, 3), sharey=True, layout="constrained")
    table = ablation_data(of)
    for i, (axis, place) in enumerate(zip(axes, PLACE_NAMES, strict=True)):
        at = table.sel(place=place)
        if place == "embedding":
            axis.plot(table.removed, table.control, color="C7", marker=".")
        axis.fill_between(at.removed, at.least, at.most, color=f"C{i}", alpha=0.2, lw=0)
        axis.plot(at.removed, at["mean"], color=f"C{i}", marker="o")
        axis.axhline(1 / of.task.modulus, color="C7", lw=1, ls=":")
        axis.set(title=PLACE_NAMES[place], xlabel="key frequencies removed")
        axis.set_xticks(table.removed)
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
    """Accuracy without each pair, a panel a place."""
    pairs = of.cuts[0].pairs
    assert pairs is not None
    n = pairs.sizes["frequency"]
    shown = {p: name for p, name in PLACE_NAMES.items() if p in pairs.place.values}
    figure, axes = plt.subplots(
        1, len(shown), figsize=(3.4 * len(shown) + 1, 3.6), layout="constrained"
    )
    edge, image = (0.5, n + 0.5, 0.5, n + 0.5), None
    for axis, (place, name) in zip(np.atleast_1d(axes), shown.items(), strict=True):
        image = axis.imshow(pairs.sel(place=place), origin="lower", extent=edge, vmin=0, vmax=1)
        axis.set(title=name, xlabel="frequency removed")
        axis.set_xticks(of.found[0].key)
        axis.set_yticks(of.found[0].key)
        axis.tick_params(axis="x", rotation=90)
    np.atleast_1d(axes)[0].set_ylabel("and frequency removed")
    if image is not None:
        figure.colorbar(image, ax=axes, label="accuracy, all pairs of numbers")
    return figure


def training_drawn(of: Findings):
    """Accuracies above, six frames of the spectrum below."""
    figure = plt.figure(figsize=(10, 5), layout="constrained")
    halves: Any = figure.subfigures(2, 1)
    top, bottom = halves
    axis = top.subplots()
    one = of.histories.isel(seed=0)
    shown = _moments(one)
    for seed in of.histories.seed:
        run = of.histories.sel(seed=seed)
        named = {} if axis.lines else {"train": "train", "held": "held out"}
        axis.plot(run.step, run.train, color="C7", lw=1, label=named.get("train"))
        axis.plot(run.step, run.held_out, color="C0", lw=1, label=named.get("held"))
    for i in shown:
        axis.axvline(int(one.step[i]), color="C1", lw=0.7, ls=":")
    axis.set(xlabel="step", ylabel="accuracy")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    energy = one.energy.sel(tensor="W_E").values[:, 1:]
    share = energy / energy.sum(1, keepdims=True)
    for panel, i in zip(bottom.subplots(1, len(shown), sharey=True), shown, strict=True):
        panel.bar(1 + np.arange(share.shape[1]), share[i], color="C0", width=0.9)
        panel.set(title=f"step {int(one.step[i])}", xlabel="frequency k")
    bottom.axes[0].set_ylabel("share of $W_E$")
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


def counts_drawn(counts: xr.Dataset):
    """Counts against each setting, and how often each frequency was chosen."""
    figure, axes = plt.subplots(
        1, 4, figsize=(12, 3), layout="constrained", width_ratios=(1, 1, 1, 1.6)
    )
    labels = {"fraction": "train fraction", "decay": "weight decay", "width": "hidden units"}
    count = counts["count"]
    for i, (name, axis) in enumerate(zip(labels, axes, strict=False)):
        every = count.transpose(name, ...).values.reshape(count.sizes[name], -1)
        shift = np.linspace(-0.25, 0.25, every.shape[1])
        learned = np.isfinite(every)
        for at, row in enumerate(every):
            axis.plot(at + shift, row, ".", color=f"C{i}", alpha=0.5)
        mean = [
            np.mean(row[ok]) if ok.any() else np.nan for row, ok in zip(every, learned, strict=True)
        ]
        axis.plot(mean, color=f"C{i}", marker="o")
        told = [
            f"{value:g}\n{ok.sum()} of {len(ok)}"
            for value, ok in zip(counts[name].values, learned, strict=True)
        ]
        axis.set_xticks(np.arange(len(told)), told)
        axis.set(xlabel=labels[name], xlim=(-0.5, len(told) - 0.5))
        axis.set_ylim(0, 1 + every[learned].max(initial=1))
    axes[0].set_ylabel("key frequencies")
    chosen = counts["key"].values.reshape(-1, counts.sizes["frequency"]).sum(0)
    axes[3].bar(counts.frequency, chosen, color="C3")
    axes[3].set(xlabel="frequency k", ylabel="networks that use it")
    return figure
