r"""A recurrent network on the whole table $[a, b, =]$, each product done once.

$$h_1(a) = \phi(0, e_a), \quad h_2(a, b) = \phi(h_1(a), e_b), \quad h_3(a, b) = \phi(h_2(a, b), e_=)$$

$h_1$ has $P$ rows, and so have its recurrent product and every token's drive: only
the products of $h_2$ and $h_3$ run over the pairs. Nested `vmap` finds this by
itself for any cell, because a product that does not depend on the mapped axis
is not repeated. For a chosen list of pairs (training) rows of the two tables of drives
are gathered instead.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..._types import State
from ...cells import Elman, output
from ...nets.recurrent import Recurrent


TENSORS: dict[str, Callable[[Recurrent], Any]] = {
    "W_E": lambda net: net.embedding,
    "W_ih": lambda net: net.cell.W_x,
    "W_hh": lambda net: net.cell.W_h,
    "W_fc": lambda net: net.W_y,
}
"""The four weight matrices by the document's names."""


class Pairs(NamedTuple):
    """Some pairs of the table, with their answers."""

    a: Int[Array, " pairs"]
    b: Int[Array, " pairs"]
    answer: Int[Array, " pairs"]


class States(NamedTuple):
    """What the network holds after each of the three tokens, over the whole table."""

    first: State
    second: State
    third: State


def pairs_of(
    mask: Bool[np.ndarray, "modulus modulus"], answers: Int[np.ndarray, "modulus modulus"]
) -> Pairs:
    """The pairs of a mask."""
    a, b = np.nonzero(mask)
    # `jnp.asarray` would compile anew for every length.
    return Pairs(*(jax.device_put(np.asarray(x, dtype=np.int32)) for x in (a, b, answers[a, b])))


def vocabulary(
    net: Recurrent, modulus: int
) -> tuple[Float[Array, "tokens inputs"], Float[Array, "modulus units"]]:
    """Embedding and unembedding, refused if they are not those of the task."""
    if net.embedding is None or net.W_y is None:
        raise ValueError("modular arithmetic needs an embedding and a readout")
    tokens, outputs = net.embedding.shape[0], net.W_y.shape[0]
    if tokens != modulus + 1 or outputs != modulus:
        raise ValueError(
            f"modulus {modulus} needs {modulus + 1} tokens and {modulus} outputs, "
            f"got {tokens} and {outputs}"
        )
    return net.embedding, net.W_y


def table_states(
    net: Recurrent, modulus: int, *, first: State = None, second: State = None
) -> States:
    """The states after a, after b and after `=`, for all pairs.

    A given state stands in the place of the network's own: later ones follow from it.
    """
    embedding, _ = vocabulary(net, modulus)
    every = lambda h: jax.vmap(lambda e: net.cell(h, e))(embedding[:modulus])
    first = every(net.cell.initial_state()) if first is None else first
    second = jax.vmap(every)(first) if second is None else second
    third = jax.vmap(jax.vmap(lambda h: net.cell(h, embedding[modulus])))(second)
    return States(first, second, third)


def table_logits(net: Recurrent, third: State) -> Float[Array, "modulus modulus out"]:
    """The readout of all pairs."""
    y = jax.vmap(jax.vmap(lambda h: output(net.cell, h)))(third)
    return _readout(net, y)


def pair_logits(net: Recurrent, pairs: Pairs, modulus: int) -> Float[Array, "pairs out"]:
    """The readout of some pairs; the classical cell is done by tables of drives."""
    if not isinstance(net.cell, Elman):
        everything = table_logits(net, table_states(net, modulus).third)
        return everything[pairs.a, pairs.b]
    cell, (embedding, _) = net.cell, vocabulary(net, modulus)
    drives = embedding @ cell.W_x.T + (0.0 if cell.b is None else cell.b)
    first = cell.activation(drives[:modulus])
    second = cell.activation((first @ cell.W_h.T)[pairs.a] + drives[pairs.b])
    third = cell.activation(second @ cell.W_h.T + drives[modulus])
    return _readout(net, third)


def _readout(net: Recurrent, y: Float[Array, "... units"]) -> Float[Array, "... out"]:
    """One product for all rows, where mapping `net.read` would be one each."""
    y = y if net.W_y is None else y @ net.W_y.T
    return y if net.b_y is None else y + net.b_y


def with_weights(net: Recurrent, tensor: str, W: Float[Array, "rows columns"]) -> Recurrent:
    """The same network with another matrix; the row of `=`, which `W_E` lacks, stays."""
    where = TENSORS[tensor]
    return eqx.tree_at(where, net, jnp.concatenate([W, where(net)[len(W) :]]))
