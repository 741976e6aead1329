r"""A frame carried along a piece of orbit, $A = J_{t+m} \cdots J_{t+1} Q_t$, factorised as rarely as rounding allows.

Every $m$ steps $A = Q_{t+m} U$, and $\log|u_{jj}|$ is added to the growth of direction
$j$ (Benettin et al. 1980). A block knows direction $j$ to $\epsilon \sqrt{n}\,u_{\max} / u_{jj}$,
and is undone and halved if that is too much. A single step knows it better, to
$\epsilon \sqrt{n}\,\rho_j / u_{jj}$ with $\rho_j$ the size of the row in which the pivot stands.

Of a square frame the last direction grows fastest apart and is needed least: the
last column of the unit lower factor is a unit vector whatever it was. Where the
cell knows $\log|\det J|$, its growth is that sum less the others'.

Any well-conditioned frame will do: if $A = \hat Q U$ with $U$ upper triangular and
$\hat Q = Q T$ with $Q$ orthonormal, the next factor carries $T$ back in, so the sums of
$\log|u_{jj}|$ telescope and only $\log|T_{jj}|$ of the last frame stays. $\hat Q$ is the
unit lower factor of an LU factorisation with partial pivoting, at a fifth of the
price of Householder's QR (Rutishauser's *Treppeniteration*).
"""

import functools
import re
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int

from ..._types import Frame, Input, Key, State
from ...cells import dual_pushforward, log_volume, pushforward


Count = int | Int[Array, ""]

TOLERANCE = 2e-7  # nats a step that rounding may cost on average
WORST = 1e-3  # nats that one block may cost: beyond, the estimate itself is in doubt
BEHIND = 1000.0  # what an error may cost more that turns columns towards those left out
FAINT = 10.0  # units of rounding below which a pivot is not known
REACH = 250.0  # nats a column may grow or shrink before it nears the end of the floats
AIM = 0.8  # share of the interval that the allowance seems to bear
AIM_THIN = 0.6  # of a thin frame, whose factors cost less than a block undone
LONGEST = 1024  # steps after which a frame is looked at, however still it seems
SATURATING = {"tanh", "logistic", "exp", "exp2", "expm1", "erf", "erfc"}


class Factors(NamedTuple):
    r"""$A = Q U$ by LU with pivoting."""

    Q: Frame
    """Unit lower up to a permutation of its rows."""
    u: Float[Array, " k"]
    r"""The diagonal, $|u_{jj}|$."""
    row: Float[Array, " k"]
    """The largest entry of the row of $A$ that became the pivot's.

    Rounding disturbs a row by its own size and not by that of the matrix: a step
    that shrinks a unit by 1e-20 leaves its row small, and as well known as the rest.
    """
    lost: Bool[Array, " k"]
    """Where a pivot is 0 because too few rows of $A$ are not: the rank is proved."""


@eqx.filter_jit
def start_frame(h: State, k: int, *, key: Key) -> Frame:
    """`k` random orthonormal tangent vectors at a state, the same whatever follows them."""
    flat = ravel_pytree(h)[0]
    return jnp.linalg.qr(jr.normal(key, (k, flat.size), flat.dtype).T)[0]


def triangular(A: Frame) -> Factors:
    """The factors of a frame."""
    lu, _, order = jax.lax.linalg.lu(A)
    rows, k = A.shape
    rank = jnp.zeros(rows, order.dtype).at[order].set(jnp.arange(rows, dtype=order.dtype))
    below = rank[:, None] - jnp.arange(k, dtype=order.dtype)[None, :]
    Q = jnp.where(below > 0, lu[rank], (below == 0).astype(A.dtype))
    u = jnp.abs(jnp.diagonal(lu))
    row = jnp.max(jnp.abs(A), axis=1)
    zero = u == 0
    lost = zero & (jnp.sum(zero) + jnp.sum(row > 0) <= k)
    return Factors(Q, u, row[order[:k]], lost)


def log_scale(Q: Frame) -> Float[Array, " k"]:
    r"""$\log|r_{jj}|$ of $Q = \tilde Q R$: how far a frame is from an orthonormal one."""
    return jnp.log(jnp.abs(jnp.diagonal(jnp.linalg.qr(Q, mode="r"))))


def saturates(cell: Any, h: State, x: Input) -> bool:
    """Whether a slope of the cell may round to 0 without being 0.

    Then a Jacobian of too small a rank proves nothing. A ReLU's slope is 0 exactly.
    """
    steps = re.findall(r"= (\w+)", str(jax.make_jaxpr(cell)(h, x)))
    return not SATURATING.isdisjoint(steps)


class Segment(NamedTuple):
    """The end of a piece of orbit: state, frame, and what was seen."""

    h: State
    Q: Frame
    scale: Float[Array, " k"]
    """`log_scale` of the frame, for whoever goes on with it."""
    growth: Float[Array, " k"]
    """Sum of the logarithmic growth of each direction over the segment."""
    rounding: Float[Array, " k"]
    """About what rounding cost each direction; inf where growth is an upper bound."""
    dead: Bool[Array, " k"]
    """Directions in which a Jacobian was exactly singular."""
    interval: Int[Array, ""]
    """The interval to go on with."""


class _Seen(NamedTuple):
    """What the blocks of a segment have added up to."""

    growth: Float[Array, " k"]
    charged: Float[Array, " k"]
    """What rounding cost, as far as the choice of intervals answers for it."""
    own: Float[Array, " k"]
    """What it cost beyond that, in single steps."""
    hidden: Bool[Array, " k"]
    dead: Bool[Array, " k"]


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
    scale: Float[Array, " k"] | None = None,
    ignored: Bool[Array, " k"] | None = None,
    dual: bool = False,
) -> Segment:
    r"""Carry `h` and `Q` over the steps from `start` up to `stop`.

    `interval` is the number of steps to the first factorisation. If `adaptive`, a
    block that would lift the cost of rounding above `TOLERANCE` a step is undone and
    halved, and the next interval follows from the spread just seen; else `interval`
    is kept, and the cost is only told. `scale` is the `log_scale` of `Q`, none if it
    is orthonormal. The directions in `ignored` are not watched. A `dual` frame is
    carried by $J^{-\top}$.
    """
    k = Q.shape[1]
    inverse = dual_pushforward(cell) if dual else None
    push = functools.partial(pushforward, cell) if inverse is None else inverse
    volume = log_volume(cell) if adaptive and k == Q.shape[0] > 1 else None
    exact = not saturates(cell, h, None if xs is None else xs[0])
    ignored = jnp.zeros(k, bool) if ignored is None else ignored
    eps = float(jnp.finfo(Q.dtype).eps)
    # Float32 cannot keep the promise of float64: it is held to its own.
    tolerance = TOLERANCE * eps / float(jnp.finfo(jnp.float64).eps)
    worst = min(0.1, WORST * tolerance / TOLERANCE)
    # Products and factors of n rows round like the root of n, seen to hold.
    resolved = eps * Q.shape[0] ** 0.5
    unit = resolved * (BEHIND if k < Q.shape[0] else 1.0)
    aim = AIM_THIN if 2 * k <= Q.shape[0] else AIM
    smallest = 2.0**70 * float(jnp.finfo(Q.dtype).tiny)  # slopes stop short of it
    reach = REACH if Q.dtype == jnp.float64 else 40.0
    to_count = lambda value: jnp.asarray(value, jnp.int32)
    start, stop, interval = to_count(start), to_count(stop), to_count(interval)

    def step(t, carry):
        h, A, whole = carry
        x = None if xs is None else jax.lax.dynamic_index_in_dim(xs, t, keepdims=False)
        following, JA, *_ = push(h, x, A)
        if volume is not None:
            whole = whole + volume(h, x)
        return following, JA, whole

    def block(carry):
        t, m, h, Q, seen = carry
        end = jnp.minimum(t + m, stop)
        taken = (end - t).astype(Q.dtype)
        single = end - t == 1
        empty = jnp.zeros((), Q.dtype)
        following, A, whole = jax.lax.fori_loop(t, end, step, (h, Q, empty))
        frame, u, row, lost = triangular(A)
        watched = ~(ignored | seen.dead)
        lost = lost & exact
        most = jnp.max(jnp.where(watched, u, 0.0))
        # A step rounds each row by its own size; the next one hands that on to all.
        row = jnp.where(single, jnp.where(row > 0, row, jnp.maximum(most, 1)), most)
        # What stands below the rounding is known only to stand below it.
        floor = FAINT * resolved * row
        faint = ~lost & ((u <= floor) | (u < smallest))
        log_u = jnp.log(jnp.where(faint, jnp.maximum(u, floor), u))
        summed = jnp.zeros(k, bool)
        if volume is not None:
            # Not where another direction is unknown: the sum would give it to the last.
            known = jnp.isfinite(whole) & ~jnp.any((faint | lost)[:-1]) & watched.all()
            summed = summed.at[-1].set(known)
            last = whole - jnp.sum(log_u[:-1])
            log_u = log_u.at[-1].set(jnp.where(known, last, log_u[-1]))
        lost, faint = lost & ~summed, faint & ~summed
        watched = watched & ~lost
        cost = jnp.where(watched & ~summed, unit * row / u, 0.0)
        cost = jnp.where(summed, jnp.sum(cost), cost)
        # Behind an unknown direction the next ones are known to about a nat.
        cost = jnp.where(watched & (jnp.cumsum(faint) > 0), jnp.maximum(cost, 1), cost)
        cost = jnp.nan_to_num(cost, nan=jnp.inf)
        known_cost = jnp.where(faint, 0.0, cost)
        charge = jnp.where(single, jnp.minimum(cost, tolerance), cost)
        added = _Seen(
            seen.growth + log_u,
            seen.charged + charge,
            seen.own + jnp.where(single, jnp.maximum(known_cost - tolerance, 0.0), 0.0),
            seen.hidden | (faint & watched),
            seen.dead | lost,
        )
        new = (end, following, frame, added)
        if not adaptive:
            return (end, m, *new[1:])
        spent = jnp.max(added.charged) / tolerance
        bearable = (spent <= (end - start).astype(Q.dtype)) & (jnp.max(cost) <= worst)
        top = jnp.max(jnp.where(watched, log_u, -jnp.inf))
        low = jnp.min(jnp.where(watched & ~summed, log_u, jnp.inf))
        far = jnp.maximum(jnp.abs(top), jnp.abs(low))
        accept = bearable & (far <= reach) & ~jnp.any(lost & ~ignored & ~seen.dead)
        accept = accept | single | ~jnp.any(watched)
        kept = jax.tree.map(lambda a, b: jnp.where(accept, a, b), new, (t, h, Q, seen))
        budget = jnp.log(tolerance * taken / unit)
        spread = jnp.log(jnp.max(jnp.where(watched & ~summed, most / u, 1.0)))
        slack = jnp.minimum(budget / spread, 0.7 * reach / far)
        longer = jnp.nan_to_num(aim * taken * slack, nan=1.0)
        longer = jnp.clip(longer, 1, jnp.minimum(2 * taken, LONGEST))
        following_m = jnp.where(accept, to_count(longer), jnp.maximum(1, m // 2))
        return (kept[0], following_m, *kept[1:])

    nothing, none = jnp.zeros(k, Q.dtype), jnp.zeros(k, bool)
    seen = _Seen(nothing, nothing, nothing, none, none)
    going = lambda carry: carry[0] < stop
    carry = (start, interval, h, Q, seen)
    _, m, h, Q, seen = jax.lax.while_loop(going, block, carry)
    before, after = nothing if scale is None else scale, log_scale(Q)
    growth = jnp.where(seen.dead, -jnp.inf, seen.growth + after - before)
    rounding = jnp.where(seen.hidden, jnp.inf, seen.charged + seen.own)
    return Segment(h, Q, after, growth, rounding, seen.dead, m)
