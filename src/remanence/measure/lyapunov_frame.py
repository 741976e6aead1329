r"""A frame of tangent vectors carried along an orbit, $A = J_{t+m} \cdots J_{t+1} Q_t$.

Every $m$ steps the frame is factorised, $A = Q_{t+m} U$ with $U$ upper
triangular, and $\log|u_{jj}|$ is added to the growth of direction $j$. Any
well-conditioned $Q$ will do: if $Q = \tilde Q T$ with $\tilde Q$ orthonormal,
the next factor carries $T$ back in, so the sums telescope. Inside a segment $Q$
is therefore the unit lower factor of an LU factorisation with partial pivoting,
at a fifth of the price of Householder's QR; the segment ends with a true QR, so
that its growth is exactly that of the orthonormal iteration
(Benettin et al. 1980; the idea is Rutishauser's *Treppeniteration*).

Of a square frame the last direction grows fastest apart and is needed least: the
last column of the unit lower factor is a unit vector whatever it was. Where the
cell knows $\log|\det J|$, its growth is that sum less the others'.
"""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from .._types import Frame, Key, State
from ..cells import log_volume, pushforward


Count = int | Int[Array, ""]

TOLERANCE = 2e-7  # nats a step that rounding may cost on average
WORST = 1e-3  # nats that one block may cost: beyond, the estimate itself is in doubt
BEHIND = 1000.0  # what an error may cost more that turns columns towards those left out
REACH = 250.0  # nats a column may grow or shrink before it nears the end of the floats
AIM = 0.8  # share of the interval that the allowance seems to bear
AIM_THIN = 0.6  # of a thin frame, whose factors cost less than a block undone
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
    rough: tuple[float, float] | None = None,
) -> Segment:
    r"""Carry `h` and `Q` over the steps from `start` up to `stop`.

    `interval` is the number of steps to the first factorisation. A block in which
    direction $j$ shrinks to $u_{jj}$ beside $u_{\max}$ knows it to
    $\epsilon \sqrt{n}\, u_{\max} / u_{jj}$. If `adaptive`, a block that would lift the sum of
    these above `TOLERANCE` a step is undone and halved, and the next interval follows
    from the spread just seen; else `interval` is kept, and the sum is only told.
    Steps from `length` on are padding and change nothing; the directions in
    `ignored` are not watched. `rough` takes the cell's `rough_pushforward` and is its
    `roughness`: the relative error $\delta$ of one step and the most that a step can
    spread a frame, $s$. A block then costs $m \delta e^{m s}$ more, and is held so short
    that this stays within the allowance.
    """
    k = Q.shape[1]
    volume = log_volume(cell) if adaptive and k == Q.shape[0] > 1 else None
    ignored = jnp.zeros(k, bool) if ignored is None else ignored
    eps = float(jnp.finfo(Q.dtype).eps)
    # Float32 cannot keep the promise of float64: it is held to its own.
    tolerance = TOLERANCE * eps / float(jnp.finfo(jnp.float64).eps)
    worst = min(0.1, WORST * tolerance / TOLERANCE)
    # Products and factors of n rows round like the root of n, seen to hold.
    unit = eps * Q.shape[0] ** 0.5 * (BEHIND if k < Q.shape[0] else 1.0)
    aim = AIM_THIN if 2 * k <= Q.shape[0] else AIM
    reach = REACH if Q.dtype == jnp.float64 else 40.0
    longest = LONGEST
    if rough is not None:
        longest = int(math.log(tolerance / (2 * rough[0])) / rough[1])
        longest = min(max(1, longest), LONGEST)
    to_count = lambda value: jnp.asarray(value, jnp.int32)
    start, stop, interval = to_count(start), to_count(stop), to_count(interval)

    def step(t, carry):
        h, A, whole = carry
        x = None if xs is None else jax.lax.dynamic_index_in_dim(xs, t, keepdims=False)
        if rough is not None:
            following, JA = cell.rough_pushforward(h, x, A)
        else:
            following, JA = pushforward(cell, h, x, A)
        if volume is not None:
            whole = whole + volume(h, x)
        if length is None:
            return following, JA, whole
        keep = lambda new, old: jnp.where(t < length, new, old)
        return jax.tree.map(keep, (following, JA, whole), carry)

    def block(carry):
        t, m, h, Q, growth, rounding, dead = carry
        end = jnp.minimum(t + m, stop)
        taken = (end - t).astype(Q.dtype)
        empty = jnp.zeros((), Q.dtype)
        following, A, whole = jax.lax.fori_loop(t, end, step, (h, Q, empty))
        frame, u = triangular(A)
        # A single step that loses a direction is the map's doing, not the interval's.
        nothing_left = eps * Q.shape[0]
        lost = (u <= nothing_left * jnp.max(u)) & (end - t == 1)
        log_u = jnp.log(u)
        summed = jnp.zeros(k, bool)
        if volume is not None:
            last = whole - jnp.sum(log_u[:-1])
            # Not where a direction dies: the sum must be one of finite parts.
            known = last > jnp.max(log_u) + taken * jnp.log(nothing_left)
            known = known & ~jnp.any(ignored | dead)
            summed = summed.at[-1].set(known)
            log_u = log_u.at[-1].set(jnp.where(known, last, log_u[-1]))
        lost = lost & ~summed
        seen = ~(ignored | dead | lost)
        top = jnp.max(jnp.where(seen, log_u, -jnp.inf))
        watched = seen & ~summed
        low = jnp.min(jnp.where(watched, log_u, jnp.inf))
        cost = jnp.where(watched, unit * jnp.exp(top - log_u), 0.0)
        cost = jnp.where(summed, jnp.sum(cost), cost)
        if rough is not None:
            cost = cost + rough[0] * taken * jnp.exp(rough[1] * taken)
        new = (end, following, frame, growth + log_u, rounding + cost, dead | lost)
        if not adaptive:
            return (end, m, *new[1:])
        spent = jnp.max(rounding + cost) / tolerance
        bearable = (spent <= (end - start).astype(Q.dtype)) & (jnp.max(cost) <= worst)
        far = jnp.maximum(jnp.abs(top), jnp.abs(low))
        accept = (bearable & (far <= reach)) | (end - t == 1) | ~jnp.any(seen)
        old = (t, h, Q, growth, rounding, dead)
        kept = jax.tree.map(lambda a, b: jnp.where(accept, a, b), new, old)
        budget = jnp.log(tolerance * taken / unit)
        slack = jnp.minimum(budget / (top - low), 0.7 * reach / far)
        longer = jnp.nan_to_num(aim * taken * slack, nan=1.0, posinf=longest)
        longer = jnp.clip(longer, 1, jnp.minimum(2 * taken, longest))
        following_m = jnp.where(accept, to_count(longer), jnp.maximum(1, m // 2))
        return (kept[0], following_m, *kept[1:])

    nothing = jnp.zeros(k, Q.dtype)
    carry = (start, interval, h, Q, nothing, nothing, jnp.zeros(k, bool))
    going = lambda carry: carry[0] < stop
    _, m, h, Q, growth, rounding, dead = jax.lax.while_loop(going, block, carry)
    Q, r = orthonormal(Q)
    growth = jnp.where(dead, -jnp.inf, growth + jnp.log(r))
    return Segment(h, Q, growth, rounding, dead, m)
