r"""Covariant Lyapunov vectors: directions that the map itself carries on, $J_t v_i(t) \parallel v_i(t+1)$.

Ginelli et al. 2007. Forward, $Q_{t+1} R_{t+1} = J_t Q_t$. The covariant vector $i$ lies
in the span of the first $i$ columns, $V_t = Q_t C_t$ with $C_t$ upper triangular, and
$C_t = R_{t+1}^{-1} C_{t+1}$ up to the length of its columns: run backward from any
triangular start, it aligns as the frame did forward.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Float

from ..._precision import double
from ..._types import Key, State
from ...cells import dimension, pushforward
from ..drive import close_loop, driven, refuse_fractions, start_state
from .frame import start_frame
from .segment import segment


@dataclasses.dataclass(frozen=True)
class CovariantVectors:
    """Unit vectors of the tangent space at each step, the slowest to fade first."""

    vectors: Float[np.ndarray, "time dimension k"]
    growth: Float[np.ndarray, "time k"]
    """Logarithmic growth of each vector in the step that starts there."""
    steps: tuple[int, int]
    """The steps of the input sequence before which the vectors stand."""

    @property
    def exponents(self) -> Float[np.ndarray, " k"]:
        """The mean growth: the Lyapunov exponents once more."""
        return self.growth.mean(axis=0)

    def angles(self, i: int = 0, j: int = 1) -> Float[np.ndarray, " time"]:
        """The angle between two of them at each step; near 0 is a tangency."""
        cosine = np.abs((self.vectors[:, :, i] * self.vectors[:, :, j]).sum(axis=1))
        return np.arccos(np.clip(cosine, 0.0, 1.0))


@eqx.filter_jit
def _both_ways(cell, h, Q, xs, C, steps):
    def forward(carry, x):
        h, Q = carry
        following, A = pushforward(cell, h, x, Q)
        Q_next, R = jnp.linalg.qr(A)
        return (following, Q_next), (Q, R)

    _, (Qs, Rs) = jax.lax.scan(forward, (h, Q), xs, length=steps)

    def backward(C, at):
        Q, R = at
        before = jax.scipy.linalg.solve_triangular(R, C)
        length = jnp.linalg.norm(before, axis=0)
        before = before / length
        return before, (Q @ before, -jnp.log(length))

    return jax.lax.scan(backward, C, (Qs, Rs), reverse=True)[1]


def covariant_vectors(
    cell: Any,
    inputs: Any = None,
    *,
    k: int | None = None,
    h0: State | None = None,
    steps: int | None = None,
    feedback: Callable[[State], Any] | None = None,
    warmup: int | None = None,
    tail: int | None = None,
    key: Key | None = None,
) -> CovariantVectors:
    """The first `k` covariant Lyapunov vectors along one orbit.

    It is driven by one sequence of `inputs`, or runs by itself for `steps`: alone, or
    hearing `feedback(h)`, as in `lyapunov_spectrum`. It begins at `h0`.
    The first `warmup` and the last `tail` steps (a quarter each) align the vectors
    and are dropped. Every step is factorised and kept: memory grows with time x
    dimension x k.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> cell = Linear(jnp.array([[0.9, 1.0], [0.0, 0.4]]), jnp.zeros((2, 1)))
    >>> found = covariant_vectors(cell, jnp.zeros((200, 1)))
    >>> np.abs(found.vectors[0]).round(4).tolist()
    [[1.0, 0.8944], [0.0, 0.4472]]
    """
    refuse_fractions(k=k, warmup=warmup, tail=tail, steps=steps)
    with double():
        drive = driven(close_loop(cell, inputs, feedback), inputs, steps=steps)
        if drive.sequences != 1:
            raise ValueError(f"one sequence would do, got {drive.sequences}")
        T, size = drive.time, dimension(drive.cell)
        warmup = T // 4 if warmup is None else warmup
        tail = T // 4 if tail is None else tail
        if warmup < 0 or tail < 0 or warmup + tail >= T:
            raise ValueError(
                f"warm-up and tail must leave steps between them: {warmup} and {tail} of {T}"
            )
        k = size if k is None else k
        if not 1 <= k <= size:
            raise ValueError(f"k must lie between 1 and {size}, got {k}")
        key_q, key_c = jr.split(jr.key(0) if key is None else key)
        h = start_state(drive.cell, h0)
        Q = start_frame(h, k, key=key_q)
        xs = None if drive.xs is None else drive.xs[0]
        run = eqx.filter_jit(segment)
        at = run(drive.cell, h, Q, xs, start=0, stop=warmup, interval=1)
        C = jnp.triu(jr.normal(key_c, (k, k)))
        C = C / jnp.linalg.norm(C, axis=0)
        vectors, growth = _both_ways(
            drive.cell,
            at.h,
            jnp.linalg.qr(at.Q)[0],
            None if xs is None else xs[warmup:],
            C,
            T - warmup,
        )
    kept = T - warmup - tail
    vectors, growth = np.asarray(vectors)[:kept], np.asarray(growth)[:kept]
    if not np.isfinite(growth).all():
        raise ValueError(
            "a direction is lost within one step (a singular Jacobian): covariant "
            "vectors exist for fewer; ask for a smaller k"
        )
    return CovariantVectors(vectors, growth, (warmup, T - tail))
