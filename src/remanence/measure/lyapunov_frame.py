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

from .._types import Frame, Key, State
from ..cells import pushforward


Count = int | Int[Array, ""]

TOLERANCE = 2.5e-7  # nats a step that rounding may cost on average
WORST = 1e-3  # nats that one block may cost: beyond, the estimate itself is in doubt
REACH = 250.0  # nats a column may grow or shrink before it nears the end of the floats
LONGEST = 1024  # steps after which a frame is looked at, however still it seems


class Segment(NamedTuple):
    """The end of a piece of orbit: state, orthonormal frame, and what was seen."""

    h: State
    Q: Frame
    growth: Float[Array, " k"]
    """Sum of the logarithmic growth of each direction over the segment."""
    rounding: Float[Array, " k"]
    """What rounding may have cost each direction, summed over the segment."""
    dead: Bool[Array, " k"]
    """Directions that fell, within one step, below what the arithmetic resolves."""
    interval: Int[Array, ""]
    """The interval to go on with."""


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
    adaptive: bool = True,
    length: Count | None = None,
    ignored: Bool[Array, " k"] | None = None,
) -> Segment:
    r"""Carry `h` and `Q` over the steps from `start` up to `stop`.

    `interval` is the number of steps to the first factorisation. A block in which
    direction $j$ shrinks to $u_{jj}$ beside $u_{\max}$ knows it to
    $\epsilon\, u_{\max} / u_{jj}$. If `adaptive`, a block that would lift the sum of
    these above `TOLERANCE` a step is undone and halved, and the next interval follows
    from the spread just seen; else `interval` is kept, and the sum is only told.
    Steps from `length` on are padding and change nothing; the directions in
    `ignored` are not watched.
    """
    k = Q.shape[1]
    ignored = jnp.zeros(k, bool) if ignored is None else ignored
    eps = float(jnp.finfo(Q.dtype).eps)
    # Float32 cannot keep the promise of float64: it is held to its own.
    tolerance = TOLERANCE * eps / float(jnp.finfo(jnp.float64).eps)
    worst = min(0.1, WORST * tolerance / TOLERANCE)
    reach = REACH if Q.dtype == jnp.float64 else 40.0
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
        t, m, h, Q, growth, rounding, dead = carry
        end = jnp.minimum(t + m, stop)
        following, A = jax.lax.fori_loop(t, end, step, (h, Q))
        frame, u = triangular(A)
        # A single step that loses a direction is the map's doing, not the interval's.
        lost = (u <= eps * Q.shape[0] * jnp.max(u)) & (end - t == 1)
        seen = ~(ignored | dead | lost)
        log_u = jnp.log(u)
        top = jnp.max(jnp.where(seen, log_u, -jnp.inf))
        low = jnp.min(jnp.where(seen, log_u, jnp.inf))
        cost = jnp.where(seen, eps * jnp.exp(top - log_u), 0.0)
        new = (end, following, frame, growth + log_u, rounding + cost, dead | lost)
        if not adaptive:
            return (end, m, *new[1:])
        spent = jnp.max(rounding + cost) / tolerance
        bearable = (spent <= (end - start).astype(Q.dtype)) & (jnp.max(cost) <= worst)
        far = jnp.maximum(jnp.abs(top), jnp.abs(low))
        accept = (bearable & (far <= reach)) | (end - t == 1) | ~jnp.any(seen)
        old = (t, h, Q, growth, rounding, dead)
        kept = jax.tree.map(lambda a, b: jnp.where(accept, a, b), new, old)
        taken = (end - t).astype(Q.dtype)
        budget = jnp.log(tolerance * taken / eps)
        slack = jnp.minimum(budget / (top - low), 0.7 * reach / far)
        longer = jnp.nan_to_num(0.9 * taken * slack, nan=1.0, posinf=LONGEST)
        longer = jnp.clip(longer, 1, jnp.minimum(2 * taken, LONGEST))
        following_m = jnp.where(accept, to_count(longer), jnp.maximum(1, m // 2))
        return (kept[0], following_m, *kept[1:])

    nothing = jnp.zeros(k, Q.dtype)
    carry = (start, interval, h, Q, nothing, nothing, jnp.zeros(k, bool))
    going = lambda carry: carry[0] < stop
    _, m, h, Q, growth, rounding, dead = jax.lax.while_loop(going, block, carry)
    Q, r = orthonormal(Q)
    growth = jnp.where(dead, -jnp.inf, growth + jnp.log(r))
    return Segment(h, Q, growth, rounding, dead, m)


def exponents_along(
    cell: Any,
    h0: State,
    xs: Float[Array, "time inputs"] | None,
    *,
    k: int | None = None,
    interval: Count | None = None,
    warmup: int = 0,
    steps: int | None = None,
    key: Key | None = None,
) -> Float[Array, " k"]:
    r"""The finite-time exponents of one orbit, largest first: pure, for `jit` and `vmap`.

    This is the bare core, without error bars. A given `interval` is kept and
    believed, which is quickest under `vmap`; without one it is found and watched.
    Call it inside `jax.enable_x64(True)` with float64 weights when figures matter.

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
    interval: Count | None = None,
    warmup: int = 0,
    steps: int | None = None,
    key: Key | None = None,
) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """`exponents_along`, and what rounding may have cost each, both in nats a step."""
    time = steps if xs is None else xs.shape[0]
    if time is None or not 0 <= warmup < time:
        raise ValueError(f"the warm-up must be shorter than {time} steps, got {warmup}")
    size = ravel_pytree(h0)[0].size
    Q = start_frame(h0, k or size, key=jr.key(0) if key is None else key)
    adaptive = interval is None
    m = 1 if interval is None else interval
    if warmup:
        h0, Q, _, _, _, m = segment(
            cell, h0, Q, xs, start=0, stop=warmup, interval=m, adaptive=adaptive
        )
    late = segment(
        cell, h0, Q, xs, start=warmup, stop=time, interval=m, adaptive=adaptive
    )
    mean = late.growth / (time - warmup)
    order = jnp.argsort(-mean)
    return mean[order], late.rounding[order] / (time - warmup)
