"""Drawings of what networks do: without frequencies, in training, by recipe, beside the written."""

import dataclasses
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ..ablation import Place
from ..ablation_curves import Ablations
from ..dissection import Dissection
from ..recipes import one_dial
from ..task import Modular
from .weights import name_of


@dataclasses.dataclass(frozen=True)
class Findings:
    """Everything that is drawn."""

    task: Modular
    seeds: tuple[int, ...]
    histories: xr.Dataset
    found: list[Dissection]
    cuts: list[Ablations]
    written: Dissection
    """The adder that was written at the first network's frequencies."""
    margins: xr.Dataset
    alike: dict[str, Any]
    recipes: xr.Dataset


PLACE_NAMES: dict[Place, str] = {
    "embedding": "embedding",
    "h1": "state after a",
    "h2": "state after b",
    "h3": "state after =",
    "unembedding": "unembedding",
}
COMPARED = ("W_E", "h3", "W_fc")
ADDERS = ("learned", "written")


def draw_ablation(of: Findings) -> Any:
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
        axis.set(title=PLACE_NAMES[place], xlabel="key frequencies removed", xticks=table.removed)
    axes[0].set_ylabel("accuracy, all pairs")
    return figure


def ablation_data(of: Findings) -> xr.Dataset:
    """Least, mean and most over subsets and seeds."""
    most = max(len(cut.control) for cut in of.cuts)
    numbers, control = np.full((3, len(PLACE_NAMES), most), np.nan), np.full(most, np.nan)
    values = lambda curves, size: [a for c in curves if size < len(c) for a in c[size]]
    for size in range(most):
        for j, place in enumerate(PLACE_NAMES):
            left = values([cut.growing[place] for cut in of.cuts], size)
            if left:
                numbers[:, j, size] = min(left), np.mean(left), max(left)
        control[size] = np.mean(values([cut.control for cut in of.cuts], size))
    columns = zip(("least", "mean", "most"), numbers, strict=True)
    return xr.Dataset(
        {name: (("place", "removed"), rows) for name, rows in columns}
        | {"control": ("removed", control)},
        coords={"place": list(PLACE_NAMES), "removed": np.arange(most)},
    )


def draw_training(histories: xr.Dataset) -> Any:
    """Accuracies above, six frames of the spectrum below."""
    figure = plt.figure(figsize=(10, 5), layout="constrained")
    halves: Any = figure.subfigures(2, 1)
    top, bottom = halves
    axis, one = top.subplots(), histories.isel(seed=0)
    # Where held-out accuracy passes six levels, and the end.
    levels = (0.0, 0.05, 0.2, 0.5, 0.9)
    shown = sorted(
        {int(np.argmax(one.held_out.values >= x)) for x in levels} | {-1 % len(one.step)}
    )
    for i in range(histories.sizes["seed"]):
        run = histories.isel(seed=i)
        axis.plot(run.step, run.train, color="C7", lw=1, label=None if i else "train")
        axis.plot(run.step, run.held_out, color="C0", lw=1, label=None if i else "held out")
    for i in shown:
        axis.axvline(int(one.step[i]), color="C1", lw=0.7, ls=":")
    axis.set(xlabel="step", ylabel="accuracy")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    energy = one.energy.sel(tensor="W_E").values[:, 1:]
    share = energy / energy.sum(1, keepdims=True)
    below = bottom.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for panel, i in zip(below, shown, strict=True):
        panel.bar(1 + np.arange(share.shape[1]), share[i], color="C0", width=0.9)
        panel.set(title=f"step {int(one.step[i])}", xlabel="frequency k")
    bottom.axes[0].set_ylabel("share of $W_E$")
    return figure


def draw_recipes(recipes: xr.Dataset) -> Any:
    """Counts against each dial that was moved, round each centre."""
    moved = one_dial(recipes)
    names = {"weight_decay": "weight decay", "units": "hidden units", "fraction": "train fraction"}
    figure, axes = plt.subplots(
        1, len(moved), figsize=(2.6 * len(moved) + 1, 3), layout="constrained", squeeze=False
    )
    for axis, (dial, centres) in zip(axes[0], moved.items(), strict=True):
        values = sorted({value for rows in centres for value, _ in rows})
        for i, rows in enumerate(centres):
            at = [values.index(value) for value, _ in rows]
            counts = np.array([counts for _, counts in rows])
            axis.plot(at, counts, ".", color=f"C{i}", alpha=0.5)
            axis.plot(at, xr.DataArray(counts).mean("dim_1"), color=f"C{i}", marker="o")
        axis.set_xticks(range(len(values)), [str(value) for value in values])
        axis.set(xlabel=names.get(dial, dial))
        axis.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("key frequencies")
    return figure


def draw_margins(of: Findings) -> Any:
    """Margins of written adders, and the cosines of the principal angles."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for i, waves in enumerate(of.margins.waves.values):
        at = of.margins.sel(waves=waves)
        left.plot(at.frequencies, at.margin, color=f"C{i}", marker="o", label=f"{waves} waves")
    left.set(xlabel="frequencies", ylabel="margin", title=f"written, P = {of.task.modulus}")
    left.set_ylim(bottom=0)
    for i, (name, cosines) in enumerate(of.alike["cosines"].items()):
        directions = 1 + np.arange(len(cosines))
        right.plot(directions, cosines, color=f"C{i}", marker="o", label=name_of(name))
    right.set(xlabel="principal direction", ylabel="cosine", title="learned against written")
    right.set_ylim(0, 1.05)
    left.legend(frameon=False)
    right.legend(frameon=False)
    return figure


def draw_beside(of: Findings) -> Any:
    """Spectra above, ablation curves below: learned and written."""
    figure = plt.figure(figsize=(11, 5.2), layout="constrained")
    halves: Any = figure.subfigures(2, 1)
    top, bottom = halves
    data = beside_data(of)
    width = max(0.4, data.sizes["frequency"] / 80)  # a bar that can be seen
    for axis, node in zip(top.subplots(1, len(COMPARED), sharey=True), COMPARED, strict=True):
        for i, adder in enumerate(ADDERS):
            at = data.sel(node=node, adder=adder)
            shifted = at.frequency + (i - 0.5) * width
            axis.bar(shifted, at.share, width, color=f"C{i}", label=adder)
        axis.set(title=name_of(node), xlabel="frequency k")
    top.axes[0].set_ylabel("share of energy")
    top.axes[0].legend(frameon=False)
    panels = bottom.subplots(1, len(PLACE_NAMES), sharey=True)
    for axis, (place, name) in zip(panels, PLACE_NAMES.items(), strict=True):
        for i, adder in enumerate(ADDERS):
            curve = data.accuracy.sel(place=place, adder=adder)
            axis.plot(data.removed, curve, color=f"C{i}", marker="o")
        axis.set(title=name, xlabel="key frequencies removed", xticks=data.removed)
    bottom.axes[0].set_ylabel("accuracy, all pairs")
    return figure


def beside_data(of: Findings) -> xr.Dataset:
    """Shares by frequency and mean accuracies by number removed, of both adders."""
    shares = [[d.nodes[node].shares for node in COMPARED] for d in (of.found[0], of.written)]
    curves = [[of.alike["ablation"][place][i] for place in PLACE_NAMES] for i in (0, 1)]
    return xr.Dataset(
        {
            "share": (("adder", "node", "frequency"), np.array(shares)),
            "accuracy": (("adder", "place", "removed"), np.array(curves)),
        },
        coords={
            "adder": list(ADDERS),
            "node": list(COMPARED),
            "place": list(PLACE_NAMES),
            "frequency": 1 + np.arange(of.task.period // 2),
            "removed": np.arange(len(of.found[0].key) + 1),
        },
    )
