r"""How much every recurrence of a cell forgets along its inputs: sums of $\log A_t$, batch by batch.

A cell whose Jacobian is diagonal or triangular offers its decays, and one forward pass gives
their sums. A delta rule offers its transition, keys x keys for a head, whose product is
factorised as $Q_{t+1} R_{t+1} = A_t Q_t$. Inputs are taken in pieces, so that memory does not
grow with their number.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...cells import Started
from ...cells.delta_rule import transported
from ...nets import unroll
from ..drive import Drive


BATCHES = 48
FEWEST = 8  # of each of many sequences
LONGEST = 128  # steps of a piece


@dataclasses.dataclass(frozen=True)
class Growth:
    """What one recurrence did: growth of `sequences x batches x groups`."""

    name: str
    growth: Float[np.ndarray, "sequences batches groups"]
    early: Float[np.ndarray, " groups"]
    shape: tuple[int, ...]
    """Of the groups."""
    rate: np.ndarray
    """What multiplies the growth; it broadcasts with `shape`."""
    states: tuple[int, ...]
    framed: bool


@dataclasses.dataclass(frozen=True)
class Grown:
    """All recurrences of a cell, and the batches: `steps` in every one of them."""

    parts: list[Growth]
    steps: Int[np.ndarray, "sequences batches"]
    warmup: int
    edges: Int[np.ndarray, " edges"]


def offers_decays(cell: Any) -> bool:
    """Whether a cell's exponents follow from its own decays or transitions."""
    bare = cell.cell if isinstance(cell, Started) else cell
    return any(hasattr(bare, name) for name in ("layers", "log_decays", "transition"))


def decay_growth(
    drive: Drive, h0: Any, warmup: int, progress: Callable[[int, int], None] | None = None
) -> Grown:
    """One forward pass over every sequence."""
    cell, S = drive.cell, drive.sequences
    bare = cell.cell if isinstance(cell, Started) else cell
    lengths = [drive.time] * S if drive.lengths is None else list(map(int, drive.lengths))
    batches = min(max(BATCHES // S, FEWEST), min(lengths) - warmup)
    found, steps = [], []
    for s, length in enumerate(lengths):
        size, count = _pieces((length - warmup) // batches)
        early = length - batches * size * count  # what does not divide is warmed up
        told = None
        if progress is not None:
            told = lambda t, s=s: progress(s * drive.time + t, S * drive.time)
        xs = drive.xs[s, :length]
        found.append(_sums(bare, h0, xs, early, batches, size, count, told))
        steps.append([size * count] * batches)
    growth = [np.stack([one[i][1:] for one in found]) for i in range(len(found[0]))]
    early = [np.mean([one[i][0] for one in found], axis=0) for i in range(len(found[0]))]
    parts = [
        Growth(
            name,
            g.reshape(*g.shape[:2], -1),
            e.ravel(),
            g.shape[2:],
            np.asarray(rate, float),
            states,
            framed,
        )
        for (name, rate, states, framed), g, e in zip(_kinds(bare), growth, early, strict=True)
    ]
    first = lengths[0] - sum(steps[0])
    edges = first + np.arange(batches + 1) * steps[0][0]
    return Grown(parts, np.array(steps), first, edges)


def _pieces(steps: int) -> tuple[int, int]:
    """A batch of at most so many steps as equal pieces: their size and count."""
    count = -(-steps // LONGEST)
    return steps // count, count


def _sums(cell, h, xs, early, batches, size, count, progress) -> list[np.ndarray]:
    """The growth of every recurrence during the warm-up and in each batch."""
    frames = _frames(cell, h)
    rest, whole = early % size, early // size
    plan = [(0, rest)] * (rest > 0) + [(0, size)] * whole
    plan += [(1 + b, size) for b in range(batches) for _ in range(count)]
    totals: list[Any] | None = None
    at = 0
    for batch, length in plan:
        h, frames, grown = _advance(cell, h, frames, xs[at : at + length])
        at += length
        grown = [np.asarray(g) for g in grown]
        if not all(np.isfinite(g).all() or np.isneginf(g).any() for g in grown):
            raise ValueError(f"the state leaves the range of floats before step {at}")
        if totals is None:
            totals = [np.zeros((batches + 1, *g.shape)) for g in grown]
        for total, g in zip(totals, grown, strict=True):
            total[batch] += g
        if progress is not None:
            progress(at)
    return totals or []


@eqx.filter_jit
def _advance(cell, h, frames, xs):
    """Some steps: the state, the frames of delta rules, and the growth of every recurrence."""
    grown, turned = [], []
    if hasattr(cell, "layers"):
        h, _, runs = cell.along(h, xs)
        recurrent = [(one.recurrence, run) for one, run in zip(cell.layers, runs, strict=True)]
        heard = [(r, None, run.inputs) for r, run in recurrent if r is not None]
    else:
        states = unroll(cell, h, xs)
        before = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b[:-1]]), h, states)
        heard = [(cell, before, xs)]
        h = jax.tree.map(lambda a: a[-1], states)
    for (recurrence, before, us), Q in zip(heard, frames, strict=True):
        if Q is None:
            clock = _clock(recurrence)
            clocks = jax.vmap(clock, in_axes=(None if before is None else 0, 0))(before, us)
            grown.append(jnp.sum(clocks, axis=0))
        else:
            Q, growth = _framed(recurrence, Q, us)
            grown.append(growth)
        turned.append(Q)
    return h, turned, grown


def _clock(cell: Any) -> Callable[[Any, Any], Array]:
    if hasattr(cell, "clock"):
        return cell.clock

    def flat(h, x):
        full = lambda a, state: jnp.broadcast_to(a, jnp.shape(state)).ravel()
        leaves = jax.tree.map(full, cell.log_decays(h, x), h)
        return jnp.concatenate([jnp.atleast_1d(leaf) for leaf in jax.tree.leaves(leaves)])

    return flat


def _framed(cell: Any, Q: Array, us: Array) -> tuple[Array, Array]:
    """The frames of every head after some steps, and how much their directions grew."""

    def step(Q, u):
        Q, R = jnp.linalg.qr(transported(cell.transition(None, u), Q))
        return Q, jnp.log(jnp.abs(jnp.diagonal(R, axis1=1, axis2=2)))

    Q, growth = jax.lax.scan(step, Q, us)
    return Q, jnp.sum(growth, axis=0)


def _recurrences(cell: Any) -> list[Any]:
    if not hasattr(cell, "layers"):
        return [cell]
    return [one.recurrence for one in cell.layers if one.recurrence is not None]


def _frames(cell: Any, h: Any) -> list[Array | None]:
    """A frame for every head of a delta rule, turned so that it favours no key."""
    found = []
    for i, recurrence in enumerate(_recurrences(cell)):
        if not hasattr(recurrence, "transition"):
            found.append(None)
            continue
        heads = recurrence.gates.heads
        shape = (heads.count, heads.keys, heads.keys)
        found.append(jnp.linalg.qr(jax.random.normal(jax.random.key(i), shape))[0])
    return found


def _kinds(cell: Any) -> list[tuple[str, Any, tuple[int, ...], bool]]:
    """Of every recurrence its name, its rate, the shape of its state, and if it has frames."""
    found = []
    for recurrence in _recurrences(cell):
        name = type(getattr(recurrence, "gates", recurrence)).__name__
        leaves = jax.tree.leaves(recurrence.initial_state())
        own = hasattr(recurrence, "rate") and hasattr(recurrence, "clock")
        states = leaves[0].shape if own else (sum(np.size(leaf) for leaf in leaves),)
        framed = hasattr(recurrence, "transition")
        states = leaves[0].shape if framed else states
        found.append((name, recurrence.rate if own else 1.0, states, framed))
    return found
