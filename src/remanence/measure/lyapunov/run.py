r"""A run along the orbit in segments: one for the warm-up, one for each batch of steps."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ..._types import Frame, State
from ..drive import Drive
from .segment import segment


BATCHES = 48  # enough to see correlations, few enough to outlast them
FEWEST = 8  # of each of many sequences
TOGETHER = 4  # segments of one compiled call; between calls progress is told
SHORTEST = 256  # steps: sequences are padded to this, or to the next power of two
PROGRAMS = 16  # compiled programs that are kept


@dataclasses.dataclass(frozen=True)
class Growth:
    """The growth of every direction in each batch of steps after the warm-up."""

    growth: Float[np.ndarray, "sequences batches k"]
    early: Float[np.ndarray, " k"]
    """The growth during the warm-up, the mean over sequences."""
    edges: Int[np.ndarray, " edges"]
    """Where the batches begin and end."""
    dead: Bool[np.ndarray, " k"]
    rounding: Float[np.ndarray, " k"]
    """About what rounding cost each direction, in nats a step."""
    interval: float
    """Mean number of steps between factorisations."""
    diverged_at: int | None


class _Place(NamedTuple):
    """Where the run is."""

    h: State
    Q: Frame
    scale: Float[Array, "sequences k"]
    m: Int[Array, " sequences"]
    dead: Bool[Array, " k"]


class _Parts(NamedTuple):
    """What each segment has left behind."""

    growth: Float[Array, "segments sequences k"]
    rounding: Float[Array, "segments k"]
    interval: Float[Array, " segments"]
    finite: Bool[Array, " segments"]


def _follow_segments(cell, place, xs, lengths, edges, adaptive, dual) -> tuple[_Place, _Parts]:
    """The segments between these edges, of every sequence at once."""

    def one(h, Q, scale, xs, length, m, ignored, start, stop):
        # What is behind the length is padding.
        span = {"start": jnp.minimum(start, length), "stop": jnp.minimum(stop, length)}
        how = {"interval": m, "adaptive": adaptive, "scale": scale, "ignored": ignored}
        return segment(cell, h, Q, xs, **span, **how, dual=dual)

    def batch(at, ends):
        own = None if xs is None else 0
        every = jax.vmap(one, in_axes=(0, 0, 0, own, 0, 0, None, None, None))
        done = every(at.h, at.Q, at.scale, xs, lengths, at.m, at.dead, *ends)
        finite = jnp.stack([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(done.h)]).all()
        interval = done.interval.mean(dtype=done.growth.dtype)
        dead = at.dead | done.dead.any(axis=0)
        place = _Place(done.h, done.Q, done.scale, done.interval, dead)
        return place, _Parts(done.growth, done.rounding.mean(axis=0), interval, finite)

    return jax.lax.scan(batch, place, (edges[:-1], edges[1:]))


@functools.lru_cache(maxsize=PROGRAMS)
def _program(structure: Any, leaves: Any, kinds: Any) -> Callable[..., tuple[_Place, _Parts]]:
    """`_follow_segments`, for arguments that are arrays of these kinds and other things.

    Not `eqx.filter_jit`, which never frees a program: this one goes when it is forgotten.
    """
    rest = jax.tree.unflatten(structure, leaves)
    return jax.jit(lambda arrays: _follow_segments(*eqx.combine(arrays, rest)))


def _run(*arguments: Any) -> tuple[_Place, _Parts]:
    """`_follow_segments`, compiled."""
    arrays, rest = eqx.partition(arguments, eqx.is_array)
    leaves, structure = jax.tree.flatten(rest)
    shapes = [(leaf.shape, str(leaf.dtype)) for leaf in jax.tree.leaves(arrays)]
    kinds = (*shapes, *map(type, leaves))  # 1 and 1.0 are equal, and not the same
    return _program(structure, tuple(leaves), kinds)(arrays)


def follow_orbit(
    drive: Drive,
    h: State,
    Q: Frame,
    *,
    warmup: int,
    fixed: int | None = None,
    dual: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Growth:
    r"""Follow the orbit to its end, or to where it leaves the range of floats.

    Of a `dual` frame the growth is that by $J^{-\top}$, as far as rounding hides none of it.
    """
    S, k = drive.sequences, Q.shape[-1]
    many = lambda leaf: np.broadcast_to(leaf, (S, *leaf.shape))
    edges = segment_edges(drive.time, warmup, S)
    count = len(edges) - 1
    # Empty segments fill up the last call: one program serves every number of them.
    full = np.append(edges, np.full(-count % TOGETHER, drive.time)).astype(np.int32)
    # In NumPy: JAX compiles a program for every array that it fills.
    start: Any = (jax.tree.map(many, h), many(Q), np.zeros((S, k)))
    start += (np.full(S, fixed or 1, np.int32), np.zeros(k, bool))
    place = _Place(*start)
    xs, ends, found = _pad_to_power_of_two(drive.xs), drive.ends.astype(np.int32), []
    for first in range(0, count, TOGETHER):
        here = full[first : first + TOGETHER + 1]
        place, part = _run(drive.cell, place, xs, ends, here, fixed is None, dual)
        found.append(jax.tree.map(np.asarray, part))
        hidden = dual and np.isinf(found[-1].rounding).any()
        if hidden or not found[-1].finite.all():
            break
        if progress is not None:
            progress(int(here[-1]), drive.time)
    parts = _Parts(*(np.concatenate(each)[:count] for each in zip(*found, strict=True)))  # pyright: ignore[reportArgumentType]
    return _count_segments(parts, np.asarray(place.dead), edges, warmup)


def _count_segments(parts: _Parts, dead: np.ndarray, edges: np.ndarray, warmup: int) -> Growth:
    """The counted segments, up to the one in which the state left the floats."""
    growth, rounding, interval, finite = map(np.asarray, parts)
    whole = len(finite) if finite.all() else int(np.argmin(finite))
    diverged_at = None if finite.all() else int(edges[whole])
    if whole <= 1:
        raise ValueError(
            f"the state leaves the range of floats after step {edges[whole]}, within the "
            f"warm-up of {warmup}: the map is unstable on these inputs"
        )
    edges = edges[1 : whole + 1]
    rounding = rounding[1:whole].sum(axis=0) / (edges[-1] - edges[0])
    return Growth(
        growth[1:whole].swapaxes(0, 1),
        growth[0].mean(axis=0),
        edges,
        dead,
        np.where(dead, 0.0, rounding),
        float(interval[1:whole].mean()),
        diverged_at,
    )


def _pad_to_power_of_two(xs: Any) -> Any:
    """Sequences with room behind them: lengths within a factor of two share a program."""
    if xs is None:
        return None
    T = xs.shape[1]
    room = max(SHORTEST, 1 << (T - 1).bit_length())
    # In NumPy and put there once, not for every call.
    return jax.device_put(np.pad(xs, ((0, 0), (0, room - T), (0, 0))))


def segment_edges(time: int, warmup: int, sequences: int) -> np.ndarray:
    """Where segments begin and end: one for the warm-up, one for each batch."""
    batches = batch_count(time - warmup, sequences)
    return np.append(0, warmup + np.linspace(0, time - warmup, batches + 1).astype(int))


def batch_count(steps: int, sequences: int) -> int:
    """Into how many batches so many counted steps of each sequence are cut."""
    return min(max(BATCHES // sequences, FEWEST), steps)
