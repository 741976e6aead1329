r"""Networks on modular arithmetic with some frequencies taken out, and what it costs.

In the embedding or the unembedding a frequency is projected out of the weights.
In the state it is taken out of $h_t$ over the whole table, at one step, and the
later steps run on what is left: $h_{t+1} = \phi(\tilde h_t, x_{t+1})$. The waves are cut
outside the compiled steps, so that all sets of frequencies share a program.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float

from ..._precision import as_double, as_numpy, double
from ...measure.fourier import without_frequencies
from ...nets import Recurrent
from .all_pairs import States, table_logits, table_states, vocabulary, with_weights
from .task import Modular


PLACES = {
    "embedding": "embedding",
    "h1": "state after a",
    "h2": "state after b",
    "h3": "state after =",
    "unembedding": "unembedding",
}
"""Where frequencies are taken out, and what figures call it."""
_states, _logits = eqx.filter_jit(table_states), eqx.filter_jit(table_logits)


def modular_states(net: Recurrent, task: Modular) -> States:
    """The three states over the whole table, in float64 and as NumPy arrays."""
    with double():
        return as_numpy(_states(as_double(net), task.modulus))


def modular_accuracy(net: Recurrent, task: Modular) -> float:
    """Share of right answers over the table."""
    with double():
        net = as_double(net)
        return _accuracy(net, task, _states(net, task.modulus))


def _accuracy(net: Recurrent, task: Modular, states: States) -> float:
    logits = np.asarray(_logits(net, states.third))
    return float((logits.argmax(-1) == task.answers).mean())


def accuracy_with(
    net: Recurrent, task: Modular, tensor: str, W: Float[np.ndarray, "rows columns"]
) -> float:
    """Accuracy over the whole table with one weight matrix replaced."""
    with double():
        return modular_accuracy(with_weights(as_double(net), tensor, jnp.asarray(W)), task)


def states_without(
    net: Recurrent, task: Modular, frequencies: Iterable[int], *, step: int
) -> States:
    """The states when some frequencies are taken out of $h_t$ and time runs on from there.

    From $h_1$ the waves in a go; from $h_2$ and $h_3$ those in a and those in b.
    """
    if step not in (1, 2, 3):
        raise ValueError(f"step must be 1, 2 or 3, got {step}")
    with double():
        net = as_double(net)
        plain = _states(net, task.modulus)
        return as_numpy(_without(net, plain, task, tuple(frequencies), f"h{step}")[1])


def ablated_accuracies(
    net: Recurrent, task: Modular, sets: Sequence[tuple[int, ...]], *, at: str
) -> Float[np.ndarray, " sets"]:
    """Accuracy over the table without each set of frequencies in one place, in float64.

    >>> from remanence.subjects.modular_addition import adder
    >>> built = adder(17, (1, 4, 6))
    >>> ablated_accuracies(built.net, built.task, [(), (3,), (7,)], at="embedding").tolist()
    [1.0, 1.0, 1.0]
    """
    if at not in PLACES:
        raise ValueError(f"the place must be one of {', '.join(PLACES)}, got {at!r}")
    with double():
        net = as_double(net)
        plain = _states(net, task.modulus)
        cuts = (_without(net, plain, task, gone, at) for gone in sets)
        return np.array([_accuracy(cut, task, states) for cut, states in cuts])


def _without(
    net: Recurrent, plain: States, task: Modular, gone: tuple[int, ...], at: str
) -> tuple[Recurrent, States]:
    """The network and its states, `plain` before, without these frequencies in one place."""

    def cut(leaf: Any, *axes: int) -> np.ndarray:
        leaf = np.array(leaf)
        inside = np.ix_(*[task.elements] * len(axes))  # for × without 0
        leaf[inside] = without_frequencies(leaf[inside], gone, axes=axes)
        return leaf

    P, pairs = task.modulus, lambda leaf: cut(leaf, 0, 1)
    if at == "embedding":
        net = with_weights(net, "W_E", jnp.asarray(cut(vocabulary(net, P)[0][:P], 0)))
        return net, _states(net, P)
    if at == "unembedding":
        return with_weights(net, "W_fc", jnp.asarray(cut(net.W_y, 0))), plain
    if at == "h1":
        return net, _states(net, P, first=jax.tree.map(lambda h: cut(h, 0), plain.first))
    if at == "h2":
        second = jax.tree.map(pairs, plain.second)
        return net, _states(net, P, first=plain.first, second=second)
    return net, plain._replace(third=jax.tree.map(pairs, plain.third))


Sets = list[list[tuple[int, ...]]]  # of frequencies, by their size


@dataclasses.dataclass(frozen=True)
class Ablations:
    """Accuracies of one network without some of its frequencies, NaN where no subset is left."""

    single: dict[int, float]
    """Without each key frequency, in the embedding."""
    growing: xr.DataArray
    """By place, number of key frequencies removed, and subset."""
    control: xr.DataArray
    """The same in the embedding for as many frequencies that are not key."""
    causal: dict[str, float]
    """Relative change of later states when one key frequency is cut from an earlier one."""


def ablations(
    net: Recurrent, task: Modular, key: tuple[int, ...], *, subsets: int, seed: int
) -> Ablations:
    """Growing subsets of the key frequencies in every place, with controls in the embedding."""

    def accuracies(sets: Sets, at: str) -> xr.DataArray:
        rows, columns = np.arange(len(sets)), np.arange(max(map(len, sets)))
        table = np.full((rows.size, columns.size), np.nan)
        for row, size in zip(table, sets, strict=True):
            row[: len(size)] = ablated_accuracies(net, task, size, at=at)
        return xr.DataArray(table, [("removed", rows), ("subset", columns)])

    subsets_of_key = growing_subsets(key, most=subsets, seed=seed)
    growing = [accuracies(subsets_of_key, at) for at in PLACES]
    others = tuple(k for k in range(1, task.period // 2 + 1) if k not in key)
    random = np.random.default_rng(seed)
    draw = lambda size: tuple(random.choice(others, size, replace=False).tolist())
    controls = [
        [draw(size) for _ in range(subsets if size else 1)]
        for size in range(min(len(key), len(others)) + 1)
    ]
    single = ablated_accuracies(net, task, [(k,) for k in key], at="embedding")
    return Ablations(
        dict(zip(key, single.tolist(), strict=True)),
        xr.concat(growing, xr.IndexVariable("place", list(PLACES))),
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
    first, second = (states_without(net, task, key[:1], step=step) for step in (1, 2))
    pairs = {
        "h1 to h2": (first.second, plain.second),
        "h1 to h3": (first.third, plain.third),
        "h2 to h3": (second.third, plain.third),
    }
    change = lambda one, other: float(np.linalg.norm(one - other) / np.linalg.norm(other))
    return {name: change(*states) for name, states in pairs.items()}
