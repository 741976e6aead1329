r"""Accuracy without frequencies: each one, growing subsets, random controls."""

import dataclasses
import itertools

import numpy as np

from ...nets import Recurrent
from .ablation import ablated_accuracies, modular_states, Place, PLACES, states_without
from .task import Modular


@dataclasses.dataclass(frozen=True)
class Ablations:
    """Accuracies of one network without some of its frequencies."""

    single: dict[Place, dict[int, float]]
    """Without each frequency there is."""
    growing: dict[Place, list[list[float]]]
    """For each number of key frequencies removed, the accuracy of each subset tried."""
    control: list[list[float]]
    """The same in the embedding for as many frequencies that are not key."""
    causal: dict[str, float]
    """Relative change of later states when one key frequency is cut from an earlier one."""


def ablations(
    net: Recurrent, task: Modular, key: tuple[int, ...], *, subsets: int, seed: int
) -> Ablations:
    """Every single frequency and growing subsets of the key ones, in every place."""
    every = tuple(range(1, task.period // 2 + 1))
    sizes = growing(key, most=subsets, seed=seed)
    controls = _controls(every, key, subsets=subsets, seed=seed)
    single, grown, control = {}, {}, []
    for place in PLACES:
        asked = [(k,) for k in every] + [gone for size in sizes for gone in size]
        asked += [gone for size in controls for gone in size if place == "embedding"]
        # One call a place: the sets differ in numbers only.
        found = iter(ablated_accuracies(net, task, asked, at=place).tolist())
        single[place] = {k: next(found) for k in every}
        grown[place] = [[next(found) for _ in size] for size in sizes]
        if place == "embedding":
            control = [[next(found) for _ in size] for size in controls]
    return Ablations(single, grown, control, _later_changes(net, task, key))


def growing(frequencies: tuple[int, ...], *, most: int, seed: int) -> list[list[tuple[int, ...]]]:
    """For each size, all subsets of it, or `most` of them drawn at random."""
    random, sizes = np.random.default_rng(seed), []
    for size in range(len(frequencies) + 1):
        subsets = list(itertools.combinations(frequencies, size))
        if len(subsets) > most:
            chosen = random.choice(len(subsets), most, replace=False)
            subsets = [subsets[i] for i in sorted(chosen)]
        sizes.append(subsets)
    return sizes


def _controls(
    every: tuple[int, ...], key: tuple[int, ...], *, subsets: int, seed: int
) -> list[list[tuple[int, ...]]]:
    """Random sets of frequencies that are not key, of the same sizes."""
    others = tuple(k for k in every if k not in key)
    random = np.random.default_rng(seed)
    return [
        [
            tuple(int(k) for k in random.choice(others, size, replace=False))
            for _ in range(subsets if size else 1)
        ]
        for size in range(min(len(key), len(others)) + 1)
    ]


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
