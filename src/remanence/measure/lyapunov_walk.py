r"""A run along the orbit in segments, one for each batch of steps.

With exponents spread over $\Delta$ nats a frame of condition 1 reaches condition
$e^{m \Delta}$ in $m$ steps, and the smallest growth is then known to
$\epsilon\, e^{m \Delta}$ only: the segments choose $m$ from the growth seen.
"""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._types import Frame, State
from .drive import all_finite, Drive
from .lyapunov_frame import Segment, segment


BATCHES = 24  # few enough to outlast correlations, enough for 23 degrees of freedom


@dataclasses.dataclass(frozen=True)
class Walked:
    """The growth of every direction in each batch of steps after the warm-up."""

    growth: np.ndarray
    """Of shape `sequences x batches x k`."""
    begins: np.ndarray
    ends: np.ndarray
    dead: np.ndarray
    rounding: np.ndarray
    """What rounding may have cost each direction, in nats a step."""
    interval: float
    """Mean number of steps between factorisations."""
    diverged_at: int | None


@eqx.filter_jit
def _segments(cell, h, Q, xs, lengths, ignored, start, stop, m, adaptive) -> Segment:
    """One segment of every sequence at once."""

    def one(h, Q, xs, length, m):
        span = {"start": start, "stop": stop, "interval": m, "adaptive": adaptive}
        return segment(cell, h, Q, xs, length=length, ignored=ignored, **span)

    axes = (0, 0, None if xs is None else 0, None if lengths is None else 0, 0)
    return jax.vmap(one, in_axes=axes)(h, Q, xs, lengths, m)


def walked(
    drive: Drive,
    h: State,
    Q: Frame,
    *,
    warmup: int,
    fixed: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Walked:
    """Follow the orbit to its end, or to where it leaves the range of floats."""
    S, k = drive.sequences, Q.shape[-1]
    many = lambda leaf: jnp.broadcast_to(leaf, (S, *leaf.shape))
    h, Q = jax.tree.map(many, (h, Q))
    start, diverged_at = 0, None
    m = jnp.full(S, fixed or 1, jnp.int32)
    dead, rounding = np.zeros(k, bool), np.zeros(k)
    rows: list[tuple[np.ndarray, int, int]] = []
    intervals = []
    for stop in _stops(drive.time, warmup):
        bounds = (jnp.asarray(n, jnp.int32) for n in (start, stop))
        done = _segments(
            drive.cell,
            h,
            Q,
            drive.xs,
            drive.lengths,
            jnp.asarray(dead),
            *bounds,
            m,
            fixed is None,
        )
        if not all_finite(done.h):
            diverged_at = start
            break
        dead = dead | np.asarray(done.dead).any(axis=0)
        if stop > warmup:
            rows.append((np.asarray(done.growth), start, stop))
            rounding = rounding + np.asarray(done.rounding).mean(axis=0)
        h, Q, m, start = done.h, done.Q, done.interval, stop
        intervals.append(float(m.mean()))
        if progress is not None:
            progress(stop, drive.time)
    if not rows:
        raise ValueError(
            f"the state leaves the range of floats after step {start}, within the "
            f"warm-up of {warmup}: the map is unstable on these inputs"
        )
    growth = np.stack([row[0] for row in rows], axis=1)
    begins, ends = (np.array([row[i] for row in rows]) for i in (1, 2))
    rounding = np.where(dead, 0.0, rounding / (ends[-1] - begins[0]))
    interval = float(np.mean(intervals[-len(rows) :]))
    return Walked(growth, begins, ends, dead, rounding, interval, diverged_at)


def _stops(time: int, warmup: int) -> list[int]:
    """Where segments end: one for the warm-up, one for each batch."""
    counted = time - warmup
    edges = warmup + np.linspace(0, counted, min(BATCHES, counted) + 1).astype(int)
    return [*([warmup] if warmup else []), *edges[1:].tolist()]
