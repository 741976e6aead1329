r"""Networks on modular arithmetic with some frequencies taken out, and what it costs.

In the embedding or the unembedding a frequency is projected out of the weights.
In the state it is taken out of $h_t$ over the whole table, at one step, and the
later steps run on what is left: $h_{t+1} = \phi(\tilde h_t, x_{t+1})$. Taking the waves
$Q = (q_1, \dots, q_m)$ out of a table is $T - Q Q^\top T$, whatever the frequencies
are, so many sets of them are one program.
"""

from collections.abc import Iterable, Sequence
from typing import get_args, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..._precision import as_double, as_numpy, double
from ..._types import State
from ...measure.fourier import frequency_plane, without_frequencies
from ...nets import Recurrent
from .all_pairs import continued, States, table_logits, table_states, vocabulary, with_embedding
from .task import Modular


Place = Literal["embedding", "unembedding", "h1", "h2", "h3"]
PLACES: tuple[Place, ...] = get_args(Place)
Tensor = Literal["W_E", "W_ih", "W_hh", "W_fc"]
"""The four weight matrices by the document's names."""
TOGETHER = 16
"""Sets a call of the program; the last call is padded, so that all share it."""
WAVES = 8
"""Waves are padded to a multiple of this, for the same reason."""


def modular_states(net: Recurrent, task: Modular) -> States:
    """The three states over the whole table, in float64 and as NumPy arrays."""
    with double():
        return as_numpy(_states(as_double(net), task.modulus))


def modular_accuracy(
    net: Recurrent, task: Modular, *, pairs: Bool[np.ndarray, "modulus modulus"] | None = None
) -> float:
    """Share of right answers over the table, or over the chosen pairs."""
    with double():
        net = as_double(net)
        answers = np.asarray(_answers(net, _states(net, task.modulus).third))
    right = answers == task.answers
    return float(right.mean() if pairs is None else right[pairs].mean())


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
    frequencies, order = tuple(frequencies), task.elements
    first, second, third = modular_states(net, task)
    at, axes = (order, (0,)) if step == 1 else (np.ix_(order, order), (0, 1))

    def cut(leaf: Float[np.ndarray, "modulus ..."]) -> Float[np.ndarray, "modulus ..."]:
        leaf = np.array(leaf)
        leaf[at] = without_frequencies(leaf[at], frequencies, axes=axes)
        return leaf

    with double():
        net = as_double(net)
        if step == 1:
            return as_numpy(_continued(net, task.modulus, jax.tree.map(cut, first)))
        if step == 2:
            return as_numpy(_continued(net, task.modulus, first, jax.tree.map(cut, second)))
    return States(first, second, jax.tree.map(cut, third))


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


def ablated_accuracy(
    net: Recurrent, task: Modular, frequencies: Iterable[int], *, at: Place
) -> float:
    """Accuracy over the whole table without some frequencies in one place."""
    return float(ablated_accuracies(net, task, [tuple(frequencies)], at=at)[0])


def ablated_accuracies(
    net: Recurrent, task: Modular, sets: Sequence[tuple[int, ...]], *, at: str
) -> Float[np.ndarray, " sets"]:
    """`ablated_accuracy` for each set of frequencies, in float64.

    >>> from remanence.subjects.modular_addition import adder
    >>> built = adder(17, (1, 4, 6))
    >>> ablated_accuracies(built.net, built.task, [(), (3,), (7,)], at="embedding").tolist()
    [1.0, 1.0, 1.0]
    """
    if at not in PLACES:
        raise ValueError(f"the place must be one of {', '.join(PLACES)}, got {at!r}")
    if not sets:
        return np.zeros(0)
    Q = _waves(task, sets)
    inside = np.isin(np.arange(task.modulus), task.elements)
    found = []
    with double():
        net, tables = as_double(net), (jnp.asarray(task.answers), jnp.asarray(inside))
        for start in range(0, len(sets), TOGETHER):
            some = Q[start : start + TOGETHER]
            padded = np.pad(some, ((0, TOGETHER - len(some)), (0, 0), (0, 0)))
            shares = _accuracies(net, jnp.asarray(padded), *tables, at)
            found.append(np.asarray(shares)[: len(some)])
    return np.concatenate(found)


def _waves(
    task: Modular, sets: Sequence[tuple[int, ...]]
) -> Float[np.ndarray, "sets modulus waves"]:
    """Orthonormal columns over the tokens for each set; absent waves are zero."""
    most = 2 * max(len(set(gone)) for gone in sets)
    Q = np.zeros((len(sets), task.modulus, max(WAVES, WAVES * -(-most // WAVES))))
    for i, gone in enumerate(sets):
        planes = [frequency_plane(task.period, k) for k in sorted(set(gone))]
        if planes:
            columns = np.concatenate(planes).T
            Q[i, task.elements, : columns.shape[1]] = columns
    return Q


@eqx.filter_jit
def _accuracies(
    net: Recurrent,
    Q: Float[Array, "sets modulus waves"],
    answers: Int[Array, "modulus modulus"],
    inside: Bool[Array, " modulus"],
    at: str,
) -> Float[Array, " sets"]:
    modulus = len(answers)
    plain = table_states(net, modulus)
    both = inside[:, None] & inside

    def one(q: Float[Array, "modulus waves"]) -> Float[Array, ""]:
        rows = lambda leaf: leaf - jnp.tensordot(q, jnp.tensordot(q.T, leaf, 1), 1)

        def pairs(leaf):
            cut = rows(leaf)
            cut = jnp.swapaxes(rows(jnp.swapaxes(cut, 0, 1)), 0, 1)
            kept = both.reshape(*both.shape, *(1,) * (leaf.ndim - 2))
            return jnp.where(kept, cut, leaf)  # 0 is apart for ×

        changed, third = net, plain.third
        if at == "embedding":
            assert net.embedding is not None
            changed = with_embedding(net, rows(net.embedding[:modulus]))
            third = table_states(changed, modulus).third
        elif at == "unembedding":
            changed = eqx.tree_at(lambda n: n.W_y, net, rows(net.W_y))
        elif at == "h1":
            third = continued(net, modulus, first=jax.tree.map(rows, plain.first)).third
        elif at == "h2":
            second = jax.tree.map(pairs, plain.second)
            third = continued(net, modulus, first=plain.first, second=second).third
        else:
            third = jax.tree.map(pairs, plain.third)
        right = table_logits(changed, third).argmax(-1) == answers
        return right.astype(q.dtype).mean()

    return jax.lax.map(one, Q)


@eqx.filter_jit
def _states(net: Recurrent, modulus: int) -> States:
    return table_states(net, modulus)


@eqx.filter_jit
def _continued(net: Recurrent, modulus: int, first: State, second: State = None) -> States:
    return continued(net, modulus, first=first, second=second)


@eqx.filter_jit
def _answers(net: Recurrent, third: State) -> Int[Array, "modulus modulus"]:
    return table_logits(net, third).argmax(-1)
