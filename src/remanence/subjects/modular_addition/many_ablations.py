r"""Many ablations as one program: accuracies without each of many sets of frequencies.

Taking the waves $Q = (q_1, \dots, q_m)$ out of a table is $T - Q Q^\top T$, whatever the
frequencies are. So the sets of a call differ in numbers only, and one program per
place does them all, where one call each would be mostly waiting.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..._precision import as_double, double
from ...measure.fourier import frequency_plane
from ...nets import Recurrent
from .ablation import PLACES
from .all_pairs import continued, table_logits, table_states, with_embedding
from .task import Modular


TOGETHER = 16
"""Sets a call of the program; the last call is padded, so that all share it."""
WAVES = 8
"""Waves are padded to a multiple of this, for the same reason."""


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
    inside = np.zeros(task.modulus, dtype=bool)
    inside[task.elements] = True
    found = []
    with double():
        net = as_double(net)
        for start in range(0, len(sets), TOGETHER):
            some = Q[start : start + TOGETHER]
            padded = np.zeros((TOGETHER, *Q.shape[1:]))
            padded[: len(some)] = some
            shares = _accuracies(
                net, jnp.asarray(padded), jnp.asarray(task.answers), jnp.asarray(inside), at
            )
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

        heard, third = net, plain.third
        if at == "embedding":
            assert net.embedding is not None
            heard = with_embedding(net, rows(net.embedding[:modulus]))
            third = table_states(heard, modulus).third
        elif at == "unembedding":
            heard = eqx.tree_at(lambda n: n.W_y, net, rows(net.W_y))
        elif at == "h1":
            first = jax.tree.map(rows, plain.first)
            third = continued(net, modulus, first=first).third
        elif at == "h2":
            second = jax.tree.map(pairs, plain.second)
            third = continued(net, modulus, first=plain.first, second=second).third
        else:
            third = jax.tree.map(pairs, plain.third)
        right = table_logits(heard, third).argmax(-1) == answers
        return right.astype(q.dtype).mean()

    return jax.lax.map(one, Q)
