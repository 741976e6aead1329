r"""Networks on modular arithmetic with some frequencies taken out, and what it costs.

In the embedding or the unembedding a frequency is projected out of the weights.
In the state it is taken out of $h_t$ over the whole table, at one step, and the
later steps run on what is left: $h_{t+1} = \phi(\tilde h_t, x_{t+1})$. Taking the waves
$Q = (q_1, \dots, q_m)$ out of a table is $T - Q Q^\top T$, whatever the frequencies
are, so sets of them share a program.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Bool, Float

from ..._precision import as_double, as_numpy, double
from ...measure.fourier import frequency_plane
from ...nets import Recurrent
from .all_pairs import States, table_logits, table_states, vocabulary, with_weights
from .task import Modular


Place = Literal["embedding", "unembedding", "h1", "h2", "h3"]
PLACES: tuple[Place, ...] = get_args(Place)
WAVES = 8
"""Waves are filled up to a multiple of this, so that sets of many sizes share a program."""


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
        (cut,) = _cut(net, task, [tuple(frequencies)], f"h{step}")
        return as_numpy(cut[1])


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
        cuts = _cut(as_double(net), task, sets, at)
        return np.array([_accuracy(net, task, states) for net, states in cuts])


def _cut(
    net: Recurrent, task: Modular, sets: Sequence[tuple[int, ...]], at: str
) -> Iterator[tuple[Recurrent, States]]:
    """The network and its states without each set of frequencies in one place."""
    plain = _states(net, task.modulus)
    # The residues that belong to the group: all, or for × all but 0.
    inside = jnp.asarray(np.isin(np.arange(task.modulus), task.elements))
    for gone in sets:
        yield _ablated(net, plain, jnp.asarray(_waves(task, gone)), inside, at)


def _waves(task: Modular, gone: tuple[int, ...]) -> Float[np.ndarray, "modulus waves"]:
    """Orthonormal columns over the tokens; absent waves are zero."""
    planes = [frequency_plane(task.period, k) for k in sorted(set(gone))]
    waves = np.concatenate([np.zeros((0, task.period)), *planes])
    Q = np.zeros((task.modulus, WAVES * max(1, -(-len(waves) // WAVES))))
    Q[task.elements, : len(waves)] = waves.T
    return Q


@eqx.filter_jit
def _ablated(
    net: Recurrent,
    plain: States,
    q: Float[Array, "modulus waves"],
    inside: Bool[Array, " modulus"],
    at: str,
) -> tuple[Recurrent, States]:
    """The network and its states with the waves `q` taken out of one place."""
    modulus = len(inside)
    rows = lambda leaf: leaf - jnp.tensordot(q, jnp.tensordot(q.T, leaf, 1), 1)

    def pairs(leaf):
        cut = jnp.swapaxes(rows(jnp.swapaxes(rows(leaf), 0, 1)), 0, 1)
        both = (inside[:, None] & inside).reshape(modulus, modulus, *(1,) * (leaf.ndim - 2))
        return jnp.where(both, cut, leaf)

    if at == "embedding":
        changed = with_weights(net, "W_E", rows(vocabulary(net, modulus)[0][:modulus]))
        return changed, table_states(changed, modulus)
    if at == "unembedding":
        return with_weights(net, "W_fc", rows(net.W_y)), plain
    if at == "h1":
        return net, table_states(net, modulus, first=jax.tree.map(rows, plain.first))
    if at == "h2":
        second = jax.tree.map(pairs, plain.second)
        return net, table_states(net, modulus, first=plain.first, second=second)
    return net, plain._replace(third=jax.tree.map(pairs, plain.third))


Sets = list[list[tuple[int, ...]]]
"""Sets of frequencies, by their size."""


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

    def accuracies(sets: Sets, at: Place) -> xr.DataArray:
        table = np.full((len(sets), max(map(len, sets))), np.nan)
        for row, size in zip(table, sets, strict=True):
            row[: len(size)] = ablated_accuracies(net, task, size, at=at)
        coords = {
            name: range(n) for name, n in zip(("removed", "subset"), table.shape, strict=True)
        }
        return xr.DataArray(table, coords, list(coords))

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
    cut = {f"h{step}": states_without(net, task, key[:1], step=step) for step in (1, 2)}
    change = lambda one, other: float(np.linalg.norm(one - other) / np.linalg.norm(other))
    return {
        "h1 to h2": change(cut["h1"].second, plain.second),
        "h1 to h3": change(cut["h1"].third, plain.third),
        "h2 to h3": change(cut["h2"].third, plain.third),
    }
