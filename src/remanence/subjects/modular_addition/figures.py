"""Pictures of what networks do: without frequencies, in training, by recipe, beside the exact."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr

from ...report import Figure
from .ablation import Ablations, Place
from .recipes import one_dial
from .weight_figures import name_of


PLACE_NAMES: dict[Place, str] = {
    "embedding": "embedding",
    "h1": "state after a",
    "h2": "state after b",
    "h3": "state after =",
    "unembedding": "unembedding",
}


def _accuracies(curves: list[list[list[float]]], sizes: int) -> np.ndarray:
    """Least, mean and most accuracy (rows) over networks and subsets, by number removed."""
    every = [[a for c in curves if size < len(c) for a in c[size]] for size in range(sizes)]
    of = lambda a: (min(a), float(np.mean(a)), max(a)) if a else (np.nan,) * 3
    return np.array([of(a) for a in every]).T


def ablation_figure(cuts: Sequence[Ablations], modulus: int) -> Figure:
    """Accuracy against how many frequencies are gone, a panel a place."""
    sizes = max(len(cut.control) for cut in cuts)
    table = [_accuracies([cut.growing[place] for cut in cuts], sizes) for place in PLACE_NAMES]
    columns = {
        name: (("place", "removed"), np.array(table)[:, i])
        for i, name in enumerate(("least", "mean", "most"))
    }
    control = ("removed", _accuracies([cut.control for cut in cuts], sizes)[1])
    coords = {"place": list(PLACE_NAMES), "removed": np.arange(sizes)}
    data = xr.Dataset(columns | {"control": control}, coords)

    def draw() -> Any:
        figure, axes = plt.subplots(1, 5, figsize=(12, 3), sharey=True)
        axes[0].plot(data.removed, data.control, color="C7", marker=".")
        axes[0].set_ylabel("accuracy, all pairs")
        for i, (axis, (place, name)) in enumerate(zip(axes, PLACE_NAMES.items(), strict=True)):
            at = data.sel(place=place)
            axis.fill_between(at.removed, at.least, at.most, color=f"C{i}", alpha=0.2, lw=0)
            axis.plot(at.removed, at["mean"], color=f"C{i}", marker="o")
            axis.axhline(1 / modulus, color="C7", lw=1, ls=":")
            axis.set(title=name, xlabel="key frequencies removed", xticks=data.removed)
        return figure

    caption = "Accuracy over all pairs against the number of key frequencies removed, in each place: mean over subsets and seeds, band from least to most. Grey: as many frequencies that are not key, from the embedding."
    return Figure("ablation", "Frequencies removed", caption, draw, data)


def training_figure(histories: xr.Dataset) -> Figure:
    """Accuracies above, six frames of the spectrum below."""

    def draw() -> Any:
        figure = plt.figure(figsize=(10, 5))
        halves: Any = figure.subfigures(2, 1)
        top, bottom = halves
        axis, one = top.subplots(), histories.isel(seed=0)
        axis.plot(histories.step, histories.train.T, color="C7", lw=1)
        axis.plot(histories.step, histories.held_out.T, color="C0", lw=1)
        axis.set(xlabel="step", ylabel="accuracy", title="train (grey) and held out")
        # Where held-out accuracy passes some levels, and the end.
        passed = {int(np.argmax(one.held_out.values >= x)) for x in (0.0, 0.05, 0.2, 0.5, 0.9)}
        shown = sorted(passed | {len(one.step) - 1})
        energy = one.energy.values[:, 1:]
        share = energy / energy.sum(1, keepdims=True)
        below = bottom.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for panel, i in zip(below, shown, strict=True):
            axis.axvline(int(one.step[i]), color="C1", lw=0.7, ls=":")
            panel.bar(1 + np.arange(share.shape[1]), share[i], color="C0", width=0.9)
            panel.set(title=f"step {int(one.step[i])}", xlabel="frequency k")
        below[0].set_ylabel("share of $W_E$")
        return figure

    caption = "Above: accuracy during training, all seeds. Below: energy of the embedding by frequency at six moments of the first seed."
    return Figure(
        "training", "Frequencies appear before the held-out answers do", caption, draw, histories
    )


def exact_adder_figure(cosines: Mapping[str, Sequence[float]]) -> Figure:
    """The cosines of the principal angles."""
    columns = {name: (f"direction of {name}", list(values)) for name, values in cosines.items()}

    def draw() -> Any:
        figure, axis = plt.subplots(figsize=(5, 3.4))
        for name, values in cosines.items():
            axis.plot(1 + np.arange(len(values)), values, marker="o", label=name_of(name))
        axis.set(xlabel="principal direction", ylabel="cosine", ylim=(0, 1.05))
        axis.legend()
        return figure

    caption = "Cosines of the principal angles between the subspaces of the learned matrices and of those written at the same frequencies (1: the same direction)."
    return Figure("exact-adder", "Learned and written down", caption, draw, xr.Dataset(columns))


def learned_and_exact_figure(curves: Mapping[str, list[list[float]]]) -> Figure:
    """Ablation curves of the learned and the written adder, a panel a place."""
    accuracy = np.array([curves[place] for place in PLACE_NAMES])
    data = xr.Dataset(
        {"accuracy": (("place", "adder", "removed"), accuracy)},
        coords={"place": list(PLACE_NAMES), "adder": ["learned", "written"]},
    )

    def draw() -> Any:
        figure, axes = plt.subplots(1, 5, figsize=(12, 3), sharey=True)
        for axis, (place, name) in zip(axes, PLACE_NAMES.items(), strict=True):
            for adder in data.adder.values:
                curve = data.accuracy.sel(place=place, adder=adder)
                axis.plot(curve, marker="o", label=adder)
            axis.set(title=name, xlabel="key frequencies removed")
        axes[0].set_ylabel("accuracy, all pairs")
        axes[0].legend()
        return figure

    caption = "Accuracy of the learned network and of the one written at its key frequencies against the number of those removed, in each place: mean over the same subsets."
    return Figure(
        "learned-and-exact",
        "Learned and written, without the same frequencies",
        caption,
        draw,
        data,
    )


def recipes_figure(recipes: xr.Dataset) -> Figure:
    """Counts against each dial that was moved, round each centre."""

    def draw() -> Any:
        moved = one_dial(recipes)
        size = (2.6 * len(moved) + 1, 3)
        figure, axes = plt.subplots(1, len(moved), figsize=size, squeeze=False)
        for axis, (dial, centres) in zip(axes[0], moved.items(), strict=True):
            values = sorted({value for rows in centres for value, _ in rows})
            for i, rows in enumerate(centres):
                at = [values.index(value) for value, _ in rows]
                counts = xr.DataArray([counts for _, counts in rows])
                axis.plot(at, counts, ".", color=f"C{i}", alpha=0.5)
                axis.plot(at, counts.mean("dim_1"), color=f"C{i}", marker="o")
            axis.set_xticks(range(len(values)), [str(value) for value in values])
            axis.set(xlabel=dial.replace("_", " "), ylim=(0, None))
        axes[0, 0].set_ylabel("key frequencies")
        return figure

    caption = "Key frequencies of W_fc with one dial of the recipe moved at a time, a colour a centre; a dot is a network that reached 99 % of held-out pairs, the line their mean."
    return Figure("counts", "How many frequencies", caption, draw, recipes)
