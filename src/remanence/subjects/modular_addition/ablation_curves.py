r"""Accuracy without frequencies: each key one, growing subsets, random controls."""

import dataclasses
import itertools

import numpy as np

from ...nets import Recurrent
from .ablation import ablated_accuracies, modular_states, Place, PLACES, states_without
from .task import Modular


Sets = list[list[tuple[int, ...]]]
"""Sets of frequencies, by their size."""


@dataclasses.dataclass(frozen=True)
class Ablations:
    """Accuracies of one network without some of its frequencies."""

    single: dict[int, float]
    """Without each key frequency, in the embedding."""
    growing: dict[Place, list[list[float]]]
    """For each number of key frequencies removed, the accuracy of each subset tried."""
    control: list[list[float]]
    """The same in the embedding for as many frequencies that are not key."""
    causal: dict[str, float]
    """Relative change of later states when one key frequency is cut from an earlier one."""


def ablations(
    net: Recurrent, task: Modular, key: tuple[int, ...], *, subsets: int, seed: int
) -> Ablations:
    """Growing subsets of the key frequencies in every place, with controls in the embedding."""

    def accuracies(sets: Sets, at: Place) -> list[list[float]]:
        # One call a place: the sets differ in numbers only.
        found = iter(ablated_accuracies(net, task, [*itertools.chain(*sets)], at=at).tolist())
        return [[next(found) for _ in size] for size in sets]

    subsets_of_key = growing_subsets(key, most=subsets, seed=seed)
    growing: dict[Place, list[list[float]]] = {at: accuracies(subsets_of_key, at) for at in PLACES}
    others = tuple(k for k in range(1, task.period // 2 + 1) if k not in key)
    random = np.random.default_rng(seed)
    draw = lambda size: tuple(random.choice(others, size, replace=False).tolist())
    controls = [
        [draw(size) for _ in range(subsets if size else 1)]
        for size in range(min(len(key), len(others)) + 1)
    ]
    (single,) = accuracies([[(k,) for k in key]], "embedding")
    return Ablations(
        dict(zip(key, single, strict=True)),
        growing,
        accuracies(controls, "embedding"),
        _later_changes(net, task, key),
    )


def growing_subsets(frequencies: tuple[int, ...], *, most: int, seed: int) -> Sets:
    """For each size, all subsets of it, or `most` of them drawn at random."""
    random, sizes = np.random.default_rng(seed), []
    for size in range(len(frequencies) + 1):
        subsets = list(itertools.combinations(frequencies, size))
        if len(subsets) > most:
            chosen = random.choice(len(subsets), most, replace=False)
            subsets = [subsets[i] for i in sorted(chosen)]
        sizes.append(subsets)
    return sizes


def _later_changes(net: Recurrent, task: Modular, key: tuple[int, ...]) -> dict[str, float]:
    """How much $h_3$ (and $h_2$) move when the first key frequency is cut from earlier states."""
    plain = modular_states(net, task)
    hidden = lambda h: h[0] if isinstance(h, tuple) else h
    gap = lambda one, other: float(
        np.linalg.norm(hidden(one) - hidden(other)) / np.linalg.norm(hidden(other))
    )
    first, second = (states_without(net, task, key[:1], step=step) for step in (1, 2))
    return {
        "h1 to h2": gap(first.second, plain.second),
        "h1 to h3": gap(first.third, plain.third),
        "h2 to h3": gap(second.third, plain.third),
    }
