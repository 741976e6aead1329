r"""A frame of tangent vectors carried along an orbit, $A = J_{t+m} \cdots J_{t+1} Q_t$.

Every $m$ steps the frame is factorised, $A = Q_{t+m} U$ with $U$ upper
triangular, and $\log|u_{jj}|$ is added to the growth of direction $j$. Any
well-conditioned $Q$ will do: if $Q = \tilde Q T$ with $\tilde Q$ orthonormal,
the next factor carries $T$ back in, so the sums telescope. Inside a segment $Q$
is therefore the unit lower factor of an LU factorisation with partial pivoting,
at a fifth of the price of Householder's QR; the segment ends with a true QR, so
that its growth is exactly that of the orthonormal iteration
(Benettin et al. 1980; the idea is Rutishauser's *Treppeniteration*).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from .._types import Frame, Key, Scalar, State
from ..cells import pushforward


# An interval is too long when the rounding of the largest column drowns the
# smallest (log condition), or when a column nears the end of the float range.
CONDITION, REACH = 20.0, 250.0

Count = int | Int[Array, ""]


class Segment(NamedTuple):
    """The end of a piece of orbit: state, orthonormal frame, and what was seen."""

    h: State
    Q: Frame
    growth: Float[Array, " k"]
    """Sum of the logarithmic growth of each direction over the segment."""
    strain: Float[Array, ""]
    """How hard the interval was: above 1 the figures are not to be trusted."""
    dead: Bool[Array, " k"]
    """Directions that fell, within one step, below what the arithmetic resolves."""


def start_frame(h: State, k: int, *, key: Key) -> Frame:
    """`k` random orthonormal tangent vectors at a state."""
    flat = ravel_pytree(h)[0]
    return jnp.linalg.qr(jr.normal(key, (flat.size, k), flat.dtype))[0]


def triangular(A: Frame) -> tuple[Frame, Float[Array, " k"]]:
    r"""$A = Q U$ by LU with pivoting: $Q$, unit lower up to a permutation, and $|u_{jj}|$."""
    lu, _, order = jax.lax.linalg.lu(A)
    rows, k = A.shape
    rank = (
        jnp.zeros(rows, order.dtype).at[order].set(jnp.arange(rows, dtype=order.dtype))
    )
    below = rank[:, None] - jnp.arange(k, dtype=order.dtype)[None, :]
    Q = jnp.where(below > 0, lu[rank], (below == 0).astype(A.dtype))
    return Q, jnp.abs(jnp.diagonal(lu))


def orthonormal(A: Frame) -> tuple[Frame, Float[Array, " k"]]:
    r"""$A = Q R$ by Householder: $Q$ and $|r_{jj}|$."""
    Q, R = jnp.linalg.qr(A)
    return Q, jnp.abs(jnp.diagonal(R))


def segment(
    cell: Any,
    h: State,
    Q: Frame,
    xs: Float[Array, "time inputs"] | None,
    *,
    start: Count,
    stop: Count,
    interval: Count,
    length: Count | None = None,
    ignored: Bool[Array, " k"] | None = None,
) -> Segment:
    """Carry `h` and `Q` over the steps from `start` up to `stop`.

    `interval` is the number of steps between factorisations; it may be traced, so
    that one compiled program serves them all. Steps from `length` on are padding
    and change nothing. The strain does not count the directions in `ignored`.
    """
    k = Q.shape[1]
    ignored = jnp.zeros(k, bool) if ignored is None else ignored
    floor = jnp.finfo(Q.dtype).eps * Q.shape[0]
    to_count = lambda value: jnp.asarray(value, jnp.int32)
    start, stop, interval = to_count(start), to_count(stop), to_count(interval)

    def step(t, carry):
        h, A = carry
        x = None if xs is None else jax.lax.dynamic_index_in_dim(xs, t, keepdims=False)
        following, JA = pushforward(cell, h, x, A)
        if length is None:
            return following, JA
        keep = lambda new, old: jnp.where(t < length, new, old)
        return jax.tree.map(keep, (following, JA), (h, A))

    def block(carry):
        t, h, Q, growth, strain, dead = carry
        end = jnp.minimum(t + interval, stop)
        h, A = jax.lax.fori_loop(t, end, step, (h, Q))
        Q, u = triangular(A)
        # A single step that loses a direction is the map's doing, not the interval's.
        lost = u <= floor * jnp.max(u)
        dead = dead | (lost & (interval == 1))
        log_u = jnp.log(u)
        seen = ~(ignored | dead)
        top = jnp.max(jnp.where(seen, log_u, -jnp.inf))
        low = jnp.min(jnp.where(seen, log_u, jnp.inf))
        far = jnp.maximum(jnp.abs(top), jnp.abs(low))
        worst = jnp.maximum((top - low) / CONDITION, far / REACH)
        worst = jnp.where(jnp.any(seen) & (interval > 1), worst, 0.0)
        return end, h, Q, growth + log_u, jnp.maximum(strain, worst), dead

    zero = jnp.zeros((), Q.dtype)
    carry = (start, h, Q, jnp.zeros(k, Q.dtype), zero, jnp.zeros(k, bool))
    going = lambda carry: carry[0] < stop
    _, h, Q, growth, strain, dead = jax.lax.while_loop(going, block, carry)
    Q, r = orthonormal(Q)
    growth = jnp.where(dead, -jnp.inf, growth + jnp.log(r))
    return Segment(h, Q, growth, strain, dead)


def exponents_along(
    cell: Any,
    h0: State,
    xs: Float[Array, "time inputs"] | None,
    *,
    k: int | None = None,
    interval: Count = 1,
    warmup: int = 0,
    steps: int | None = None,
    key: Key | None = None,
) -> Float[Array, " k"]:
    r"""The finite-time exponents of one orbit, largest first: pure, for `jit` and `vmap`.

    This is the bare core, without error bars and with an `interval` that is
    believed; `lyapunov_spectrum` chooses it and watches it. Call it inside
    `jax.enable_x64(True)` with float64 weights when figures matter.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Diagonal
    >>> cell = Diagonal(jnp.array([0.5, 0.25]), jnp.ones((2, 1)))
    >>> found = exponents_along(cell, jnp.zeros(2), jnp.ones((60, 1)), warmup=20)
    >>> [round(value, 3) for value in found.tolist()]
    [-0.693, -1.386]
    """
    return growth_along(
        cell, h0, xs, k=k, interval=interval, warmup=warmup, steps=steps, key=key
    )[0]


def growth_along(
    cell: Any,
    h0: State,
    xs: Float[Array, "time inputs"] | None,
    *,
    k: int | None = None,
    interval: Count = 1,
    warmup: int = 0,
    steps: int | None = None,
    key: Key | None = None,
) -> tuple[Float[Array, " k"], Scalar]:
    """`exponents_along` with the strain of the interval: above 1 it was too long."""
    time = steps if xs is None else xs.shape[0]
    if time is None or not 0 <= warmup < time:
        raise ValueError(f"the warm-up must be shorter than {time} steps, got {warmup}")
    size = ravel_pytree(h0)[0].size
    Q = start_frame(h0, k or size, key=jr.key(0) if key is None else key)
    early = segment(cell, h0, Q, xs, start=0, stop=warmup, interval=interval)
    late = segment(
        cell, early.h, early.Q, xs, start=warmup, stop=time, interval=interval
    )
    exponents = jnp.sort(late.growth / (time - warmup))[::-1]
    return exponents, jnp.maximum(early.strain, late.strain)
