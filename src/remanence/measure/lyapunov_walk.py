r"""A run along the orbit in segments, one for each batch of steps.

With exponents spread over $\Delta$ nats a frame of condition 1 reaches condition
$e^{m \Delta}$ in $m$ steps, and the smallest growth is then known to
$\epsilon\, e^{m \Delta}$ only: the segments choose $m$ from the growth seen.
"""

import dataclasses
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .._types import Frame, State
from .drive import Drive
from .lyapunov_frame import segment, TOLERANCE


BATCHES = 24  # few enough to outlast correlations, enough for 23 degrees of freedom
SPELL = 0.5  # seconds after which whoever watches is told


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


class _Trace(NamedTuple):
    """Where the walk is, and what each segment so far has left behind."""

    h: State
    Q: Frame
    m: Int[Array, " sequences"]
    dead: Bool[Array, " k"]
    growth: Float[Array, "segments sequences k"]
    rounding: Float[Array, "segments k"]
    interval: Float[Array, " segments"]
    finite: Bool[Array, " segments"]


@eqx.filter_jit
def _onward(cell, trace, xs, lengths, edges, first, last, adaptive, rough) -> _Trace:
    """The segments from `first` up to `last`, of every sequence at once."""

    def one(h, Q, xs, length, m, ignored, start, stop):
        span = {"start": start, "stop": stop, "interval": m, "adaptive": adaptive}
        options = {"length": length, "ignored": ignored, "rough": rough}
        return segment(cell, h, Q, xs, **span, **options)

    def batch(i, at):
        axes = (0, 0, None if xs is None else 0, None if lengths is None else 0, 0)
        every = jax.vmap(one, in_axes=(*axes, None, None, None))
        done = every(at.h, at.Q, xs, lengths, at.m, at.dead, edges[i], edges[i + 1])
        leaves = [jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(done.h)]
        return _Trace(
            done.h,
            done.Q,
            done.interval,
            at.dead | done.dead.any(axis=0),
            at.growth.at[i].set(done.growth),
            at.rounding.at[i].set(done.rounding.mean(axis=0)),
            at.interval.at[i].set(done.interval.mean(dtype=done.growth.dtype)),
            at.finite.at[i].set(jnp.stack(leaves).all()),
        )

    return jax.lax.fori_loop(first, last, batch, trace)


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
    edges = _edges(drive.time, warmup)
    count = len(edges) - 1
    trace = _Trace(
        h=jax.tree.map(many, h),
        Q=many(Q),
        m=jnp.full(S, fixed or 1, jnp.int32),
        dead=jnp.zeros(k, bool),
        growth=jnp.zeros((count, S, k)),
        rounding=jnp.zeros((count, k)),
        interval=jnp.zeros(count),
        finite=jnp.ones(count, bool),
    )
    rough = _rough(drive.cell) if fixed is None and k > 1 else None
    bounds = jnp.asarray(edges, jnp.int32)
    heard = (drive.xs, drive.lengths, bounds)
    done, spell = 0, 1
    while done < count and bool(trace.finite.all()):
        upto = min(done + spell, count)
        begun = time.perf_counter()
        span = (jnp.asarray(n, jnp.int32) for n in (done, upto))
        trace = _onward(drive.cell, trace, *heard, *span, fixed is None, rough)
        jax.block_until_ready(trace)
        # Quick segments go together: only the times at which progress is told change.
        each = (time.perf_counter() - begun) / (upto - done)
        done, spell = upto, max(1, int(SPELL / max(each, 1e-6)))
        if progress is not None:
            progress(int(edges[done]), drive.time)
    return _gathered(trace, edges, warmup)


def _gathered(trace: _Trace, edges: np.ndarray, warmup: int) -> Walked:
    """The counted segments, up to the one in which the state left the floats."""
    finite = np.asarray(trace.finite)
    whole = len(finite) if finite.all() else int(np.argmin(finite))
    diverged_at = None if finite.all() else int(edges[whole])
    first = 1 if warmup else 0
    if whole <= first:
        raise ValueError(
            f"the state leaves the range of floats after step {edges[whole]}, within the "
            f"warm-up of {warmup}: the map is unstable on these inputs"
        )
    rows = slice(first, whole)
    begins, ends = edges[first:whole], edges[first + 1 : whole + 1]
    dead = np.asarray(trace.dead)
    rounding = np.asarray(trace.rounding)[rows].sum(axis=0) / (ends[-1] - begins[0])
    return Walked(
        np.asarray(trace.growth)[rows].swapaxes(0, 1),
        begins,
        ends,
        dead,
        np.where(dead, 0.0, rounding),
        float(np.asarray(trace.interval)[rows].mean()),
        diverged_at,
    )


def _rough(cell: Any) -> tuple[float, float] | None:
    """Single precision where a cell offers it and a fifth of the allowance pays for it."""
    found = getattr(cell, "roughness", None)
    return found if found is not None and found[0] <= TOLERANCE / 5 else None


def _edges(time: int, warmup: int) -> np.ndarray:
    """Where segments begin and end: one for the warm-up, one for each batch."""
    counted = time - warmup
    edges = warmup + np.linspace(0, counted, min(BATCHES, counted) + 1).astype(int)
    return np.concatenate([[0], edges]) if warmup else edges
