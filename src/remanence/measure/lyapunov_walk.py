r"""A run along the orbit in segments, each factorised as rarely as rounding allows.

With exponents spread over $\Delta$ nats a frame of condition 1 reaches condition
$e^{m \Delta}$ in $m$ steps, and the smallest growth is then known to
$\epsilon\, e^{m \Delta}$ only. So $m$ follows from the growth already seen, and a
segment that strained more than it should is done again with a shorter one.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._types import Frame, State
from .drive import all_finite, Drive
from .lyapunov_frame import CONDITION, REACH, Segment, segment


BATCHES = 24  # few enough to outlast correlations, enough for 23 degrees of freedom
LONGEST = 1024  # a frame is looked at this often, however still it seems
FIRST = 8  # steps taken one by one before anything is known about the growth


@dataclasses.dataclass(frozen=True)
class Walked:
    """The growth of every direction in each batch of steps after the warm-up."""

    growth: np.ndarray
    """Of shape `sequences x batches x k`."""
    begins: np.ndarray
    ends: np.ndarray
    dead: np.ndarray
    interval: int
    diverged_at: int | None


@eqx.filter_jit
def _segments(cell, h, Q, xs, lengths, ignored, start, stop, interval) -> Segment:
    """One segment of every sequence at once, all with the same interval."""

    def one(h, Q, xs, length):
        span = {"start": start, "stop": stop, "interval": interval}
        return segment(cell, h, Q, xs, length=length, ignored=ignored, **span)

    axes = (0, 0, None if xs is None else 0, None if lengths is None else 0)
    return jax.vmap(one, in_axes=axes)(h, Q, xs, lengths)


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
    many = lambda leaf: jnp.broadcast_to(leaf, (drive.sequences, *leaf.shape))
    h, Q = jax.tree.map(many, (h, Q))
    interval, start, diverged_at = fixed or 1, 0, None
    dead = np.zeros(Q.shape[-1], bool)
    rows: list[tuple[np.ndarray, int, int]] = []
    for stop in _stops(drive.time, warmup):
        done, strain, interval = _bearable(
            drive, h, Q, start, stop, interval, dead, fixed
        )
        if not all_finite(done.h):
            diverged_at = start
            break
        dead = dead | np.asarray(done.dead).any(axis=0)
        if stop > warmup:
            rows.append((np.asarray(done.growth), start, stop))
        if fixed is None:
            interval = _next_interval(done, strain, interval, stop - start, dead)
        h, Q, start = done.h, done.Q, stop
        if progress is not None:
            progress(stop, drive.time)
    if not rows:
        raise ValueError(
            f"the state leaves the range of floats after step {start}, within the "
            f"warm-up of {warmup}: the map is unstable on these inputs"
        )
    growth = np.stack([row[0] for row in rows], axis=1)
    begins, ends = (np.array([row[i] for row in rows]) for i in (1, 2))
    return Walked(growth, begins, ends, dead, interval, diverged_at)


def _stops(time: int, warmup: int) -> list[int]:
    """Where segments end: short ones first, while the interval is still found out."""
    ramp = [FIRST * 4**i for i in range(12) if FIRST * 4**i < warmup]
    counted = time - warmup
    edges = warmup + np.linspace(0, counted, min(BATCHES, counted) + 1).astype(int)
    return [*ramp, *([warmup] if warmup else []), *edges[1:].tolist()]


def _bearable(
    drive: Drive, h, Q, start, stop, interval, dead, fixed
) -> tuple[Segment, float, int]:
    """One segment, done again with a shorter interval until the strain is bearable."""
    while True:
        bounds = (jnp.asarray(n, jnp.int32) for n in (start, stop, interval))
        ignored = jnp.asarray(dead)
        done = _segments(drive.cell, h, Q, drive.xs, drive.lengths, ignored, *bounds)
        strain = float(jnp.max(done.strain))
        if fixed or interval == 1 or strain <= 1.0 or not all_finite(done.h):
            return done, strain, interval
        shorter = int(interval * 0.8 / strain) if np.isfinite(strain) else 1
        interval = max(1, min(interval - 1, shorter))


def _next_interval(
    done: Segment, strain: float, interval: int, span: int, dead: Any
) -> int:
    """The longest interval that the growth already seen permits, with a reserve."""
    if interval > 1:
        return min(LONGEST, max(1, int(interval * min(0.9 / max(strain, 1e-3), 4.0))))
    growth = np.asarray(done.growth)[:, ~dead] / span
    if not growth.size or not np.isfinite(growth).all():
        return 1
    rate = max(np.ptp(growth) / CONDITION, np.abs(growth).max() / REACH, 1e-3)
    return min(LONGEST, max(1, int(0.7 / rate)))
