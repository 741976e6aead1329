r"""Accuracy without frequencies: each one, pairs, growing subsets, and random controls."""

import dataclasses
import itertools

import numpy as np
import xarray as xr

from ...measure.ablation import (
    modular_logits,
    modular_states,
    Place,
    PLACES,
    states_without,
)
from ...measure.fourier import without_frequencies
from ...nets import Recurrent
from ...tasks.modular import Modular
from .dissection import growing, removed


@dataclasses.dataclass(frozen=True)
class Ablations:
    """Accuracies of one network without some of its frequencies."""

    single: dict[Place, dict[int, float]]
    growing: dict[Place, list[list[float]]]
    """For each number of key frequencies removed, the accuracy of each subset tried."""
    control: list[list[float]]
    """The same in the embedding for as many frequencies that are not key."""
    causal: dict[str, float]
    """Relative change of later states when one key frequency is cut from an earlier one."""


def ablations(
    net: Recurrent, task: Modular, key: tuple[int, ...], *, subsets: int, seed: int
) -> Ablations:
    """Every single frequency in the weights, key ones in the states, growing subsets."""
    every = tuple(range(1, task.period // 2 + 1))
    single: dict[Place, dict[int, float]] = {}
    for place in PLACES:
        asked = every if place in ("embedding", "unembedding") else key
        found = removed(net, task, [(k,) for k in asked], place)
        single[place] = dict(zip(asked, found, strict=True))
    sizes = growing(key, most=subsets, seed=seed)
    grown: dict[Place, list[list[float]]] = {
        place: [removed(net, task, sets, place) for sets in sizes] for place in PLACES
    }
    others = tuple(k for k in every if k not in key)
    random = np.random.default_rng(seed)
    control = []
    for size in range(min(len(key), len(others)) + 1):
        draws = [
            tuple(int(k) for k in random.choice(others, size, replace=False))
            for _ in range(subsets if size else 1)
        ]
        control.append(removed(net, task, draws, "embedding"))
    return Ablations(single, grown, control, _later_changes(net, task, key))


def _later_changes(
    net: Recurrent, task: Modular, key: tuple[int, ...]
) -> dict[str, float]:
    """How much $h_3$ (and $h_2$) move when the first key frequency is cut from earlier states."""
    plain = modular_states(net, task)
    hidden = lambda h: h[0] if isinstance(h, tuple) else h
    gap = lambda one, other: float(
        np.linalg.norm(hidden(one) - hidden(other)) / np.linalg.norm(hidden(other))
    )
    first = states_without(net, task, key[:1], step=1)
    second = states_without(net, task, key[:1], step=2)
    return {
        "h1 to h2": gap(first.second, plain.second),
        "h1 to h3": gap(first.third, plain.third),
        "h2 to h3": gap(second.third, plain.third),
    }


def pair_table(net: Recurrent, task: Modular) -> xr.DataArray:
    """Accuracy without every pair of frequencies in the unembedding (one, on the diagonal).

    Taking waves out of the rows of $W_{fc}$ takes them out of the logits, so the
    states are computed once.
    """
    order = task.elements
    logits = modular_logits(net, task)
    bias = 0.0 if net.b_y is None else np.asarray(net.b_y, dtype=float)
    logits = (logits - bias).reshape(-1, task.modulus)
    answers = task.answers.ravel()
    every = np.arange(1, task.period // 2 + 1)
    part = {
        k: logits[:, order] - without_frequencies(logits[:, order].T, (int(k),)).T
        for k in every
    }
    found = np.ones((len(every), len(every)))
    for i, j in itertools.combinations_with_replacement(range(len(every)), 2):
        left = logits + bias
        left[:, order] -= part[every[i]] + (part[every[j]] if i != j else 0.0)
        found[i, j] = found[j, i] = (left.argmax(-1) == answers).mean()
    return xr.DataArray(
        found,
        dims=("frequency", "other"),
        coords={"frequency": every, "other": every},
        name="accuracy",
    )
