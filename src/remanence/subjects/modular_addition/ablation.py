r"""Networks on modular arithmetic with some frequencies taken out, and what it costs.

In the embedding or the unembedding a frequency is projected out of the weights.
In the state it is taken out of $h_t$ over the whole table, at one step, and the
later steps run on what is left: $h_{t+1} = \phi(\tilde h_t, x_{t+1})$.
"""

from collections.abc import Iterable
from typing import get_args, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..._precision import as_double, as_numpy, double
from ..._types import State
from ...measure.fourier import without_frequencies
from ...nets import Recurrent
from .all_pairs import continued, States, table_logits, table_states, vocabulary, with_embedding
from .task import Modular


Place = Literal["embedding", "unembedding", "h1", "h2", "h3"]
PLACES: tuple[Place, ...] = get_args(Place)
Tensor = Literal["W_E", "W_ih", "W_hh", "W_fc"]
"""The four weight matrices by the document's names."""


def modular_states(net: Recurrent, task: Modular) -> States:
    """The three states over the whole table, in float64 and as NumPy arrays."""
    with double():
        return as_numpy(_states(as_double(net), task.modulus))


def modular_logits(net: Recurrent, task: Modular) -> Float[np.ndarray, "modulus modulus modulus"]:
    """What the network answers on the whole table, in float64."""
    with double():
        net = as_double(net)
        third = _states(net, task.modulus).third
        return np.array(table_logits(net, third))


def modular_accuracy(
    net: Recurrent, task: Modular, *, pairs: Bool[np.ndarray, "modulus modulus"] | None = None
) -> float:
    """Share of right answers over the table, or over the chosen pairs."""
    with double():
        net = as_double(net)
        third = _states(net, task.modulus).third
        return _share(net, third, task, pairs)


def without(
    net: Recurrent,
    task: Modular,
    frequencies: Iterable[int],
    *,
    at: Literal["embedding", "unembedding"] = "embedding",
) -> Recurrent:
    """The same network, its embedding deaf or its unembedding dumb to some frequencies."""
    weights = vocabulary(net, task.modulus)[at == "unembedding"]
    rows = np.array(weights)
    order = task.elements
    rows[order] = without_frequencies(rows[order].astype(float), frequencies)
    where = (lambda n: n.embedding) if at == "embedding" else (lambda n: n.W_y)
    return eqx.tree_at(where, net, jnp.asarray(rows, dtype=weights.dtype))


def states_without(
    net: Recurrent, task: Modular, frequencies: Iterable[int], *, step: int
) -> States:
    """The states when some frequencies are taken out of $h_t$ and time runs on from there.

    From $h_1$ the waves in a go; from $h_2$ and $h_3$ those in a and those in b.
    """
    if step not in (1, 2, 3):
        raise ValueError(f"step must be 1, 2 or 3, got {step}")
    frequencies, states = tuple(frequencies), modular_states(net, task)
    cut = lambda leaf: _cut(leaf, task, frequencies, step)
    first, second, third = states
    with double():
        net = as_double(net)
        if step == 1:
            return as_numpy(_continued(net, task.modulus, jax.tree.map(cut, first)))
        if step == 2:
            changed = jax.tree.map(cut, second)
            return as_numpy(_continued(net, task.modulus, first, changed))
    return States(first, second, jax.tree.map(cut, third))


def ablated_accuracy(
    net: Recurrent, task: Modular, frequencies: Iterable[int], *, at: Place
) -> float:
    """Accuracy over the whole table without some frequencies in one place."""
    if at == "embedding" or at == "unembedding":
        with double():
            net = without(as_double(net), task, frequencies, at=at)
            return modular_accuracy(net, task)
    third = states_without(net, task, frequencies, step=int(at[1])).third
    with double():
        return _share(as_double(net), third, task, None)


def accuracy_with(
    net: Recurrent, task: Modular, tensor: Tensor, W: Float[np.ndarray, "rows columns"]
) -> float:
    """Accuracy over the whole table with one weight matrix replaced."""
    with double():
        net, W_new = as_double(net), jnp.asarray(W)
        if tensor == "W_E":
            return modular_accuracy(with_embedding(net, W_new), task)
        where = {
            "W_ih": lambda n: n.cell.W_x,
            "W_hh": lambda n: n.cell.W_h,
            "W_fc": lambda n: n.W_y,
        }[tensor]
        return modular_accuracy(eqx.tree_at(where, net, W_new), task)


def _cut(
    leaf: Float[np.ndarray, "modulus ..."], task: Modular, frequencies: tuple[int, ...], step: int
) -> Float[np.ndarray, "modulus ..."]:
    leaf, order = np.array(leaf), task.elements
    if step == 1:
        leaf[order] = without_frequencies(leaf[order], frequencies)
    else:
        at = np.ix_(order, order)
        leaf[at] = without_frequencies(leaf[at], frequencies, axes=(0, 1))
    return leaf


@eqx.filter_jit
def _states(net: Recurrent, modulus: int) -> States:
    return table_states(net, modulus)


@eqx.filter_jit
def _continued(net: Recurrent, modulus: int, first: State, second: State = None) -> States:
    return continued(net, modulus, first=first, second=second)


@eqx.filter_jit
def _answers(net: Recurrent, third: State) -> Int[Array, "modulus modulus"]:
    return table_logits(net, third).argmax(-1)


def _share(net, third, task, pairs) -> float:
    right = np.asarray(_answers(net, third)) == task.answers
    return float(right.mean() if pairs is None else right[pairs].mean())
