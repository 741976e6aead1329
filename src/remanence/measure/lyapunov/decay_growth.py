r"""How much every recurrence of a cell forgets along its inputs: sums of $\log A_t$, batch by batch.

A cell whose Jacobian is diagonal or triangular offers its decays, and one forward pass gives
their sums. A delta rule offers its transition, keys x keys for a head, whose product is
factorised as $Q_{t+1} R_{t+1} = A_t Q_t$. Inputs are taken in pieces, so that memory does not
grow with their number.
"""

import dataclasses
import itertools
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
from .run import batch_count


LONGEST = 128  # steps of a piece


@dataclasses.dataclass(frozen=True)
class Part:
    """What one recurrence did: the growth of its groups, which `rate` turns into exponents."""

    layer: int
    cell: Any
    growth: Float[np.ndarray, "sequences batches *groups"]
    early: Float[np.ndarray, "*groups"]
    """The growth during the warm-up, the mean over sequences."""

    @property
    def framed(self) -> bool:
        """Whether the groups are directions of frames, `heads x keys`."""
        return hasattr(self.cell, "transition")

    @property
    def rate(self) -> np.ndarray:
        """What multiplies the growth; it broadcasts with the groups."""
        return np.asarray(self.cell.rate if hasattr(self.cell, "clock") else 1.0, float)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the exponents."""
        return np.broadcast_shapes(self.early.shape, self.rate.shape)


@dataclasses.dataclass(frozen=True)
class DecayGrowth:
    """All recurrences of a cell, and the batches: `steps` in every one of them."""

    parts: list[Part]
    steps: Int[np.ndarray, "sequences batches"]
    edges: Int[np.ndarray, " edges"]
    """Of the batches of the first sequence; the warm-up ends at the first."""


def offers_decays(cell: Any) -> bool:
    """Whether a cell's exponents follow from its own decays or transitions."""
    bare = cell.cell if isinstance(cell, Started) else cell
    return any(hasattr(bare, name) for name in ("layers", "log_decays", "transition"))


def decay_growth(
    drive: Drive, h0: Any, warmup: int, progress: Callable[[int, int], None] | None = None
) -> DecayGrowth:
    """One forward pass over every sequence."""
    cell = drive.cell.cell if isinstance(drive.cell, Started) else drive.cell
    S, T = drive.sequences, drive.time
    lengths = drive.ends.tolist()
    batches = batch_count(min(lengths) - warmup, S)
    sums, steps = [], []
    for s, length in enumerate(lengths):
        # A batch is equal pieces, which share a program; what does not divide is warmed up.
        span = (length - warmup) // batches
        pieces = -(-span // LONGEST)
        size = span // pieces
        tell = None if progress is None else lambda t, s=s: progress(s * T + t, S * T)
        found = _batch_sums(cell, h0, drive.xs[s, :length], batches, size, size * pieces, tell)
        sums.append(found)
        steps.append([size * pieces] * batches)
    every = [np.stack(each) for each in zip(*sums, strict=True)]
    parts = [
        Part(layer, recurrence, growth[:, 1:], growth[:, 0].mean(axis=0))
        for (layer, recurrence), growth in zip(_recurrences(cell), every, strict=True)
    ]
    edges = lengths[0] - np.arange(batches, -1, -1) * steps[0][0]
    return DecayGrowth(parts, np.array(steps), edges)


def _recurrences(cell: Any) -> list[tuple[int, Any]]:
    """The cell itself, or the recurrences of its layers, each with its layer."""
    layers = getattr(cell, "layers", None)
    if layers is None:
        return [(0, cell)]
    each = ((i, layer.recurrence) for i, layer in enumerate(layers))
    return [(i, recurrence) for i, recurrence in each if recurrence is not None]


def _batch_sums(cell, h, xs, batches, size, batch, progress) -> list[np.ndarray]:
    """The growth of every recurrence during the warm-up and in each batch."""
    frames = [_frames(recurrence, i) for i, (_, recurrence) in enumerate(_recurrences(cell))]
    T, totals = len(xs), []
    edges = np.unique([0, *range(T % size, T + 1, size)])
    for begin, end in itertools.pairwise(edges):
        h, frames, growth = _advance(cell, h, frames, xs[begin:end])
        growth = [np.asarray(g) for g in growth]
        if any(np.isnan(g).any() or np.isposinf(g).any() for g in growth):
            raise ValueError(f"the state leaves the range of floats before step {end}")
        totals = totals or [np.zeros((batches + 1, *g.shape)) for g in growth]
        at = max(0, batches + (end - 1 - T) // batch + 1)
        for total, g in zip(totals, growth, strict=True):
            total[at] += g
        if progress is not None:
            progress(int(end))
    return totals


def _frames(recurrence: Any, seed: int) -> Array | None:
    """A frame for every head of a delta rule, turned so that it favours no key."""
    if not hasattr(recurrence, "transition"):
        return None
    heads, keys, _ = recurrence.gates.shape
    return jnp.linalg.qr(jax.random.normal(jax.random.key(seed), (heads, keys, keys)))[0]


@eqx.filter_jit
def _advance(cell, h, frames, xs):
    """Some steps: the state, the frames of delta rules, and the growth of every recurrence."""
    if hasattr(cell, "layers"):
        h, _, runs = cell.along(h, xs)
        inputs = [(None, run.inputs) for run in runs if run.inputs is not None]
    else:
        states = unroll(cell, h, xs)
        before = jax.tree.map(lambda a, b: jnp.concatenate([a[None], b[:-1]]), h, states)
        h, inputs = jax.tree.map(lambda a: a[-1], states), [(before, xs)]
    growth, following = [], []
    each = zip(_recurrences(cell), inputs, frames, strict=True)
    for (_, recurrence), (before, us), Q in each:
        if Q is None:
            grown = jnp.sum(jax.vmap(_clock(recurrence))(before, us), axis=0)
        else:
            Q, grown = _carry_frames(recurrence, Q, us)
        growth.append(grown)
        following.append(Q)
    return h, following, growth


def _clock(cell: Any) -> Callable[[Any, Any], Array]:
    """What one step adds to the growth of every group."""
    if hasattr(cell, "clock"):
        return cell.clock

    def flat(h, x):
        full = lambda a, state: jnp.broadcast_to(a, jnp.shape(state)).ravel()
        return jnp.concatenate(jax.tree.leaves(jax.tree.map(full, cell.log_decays(h, x), h)))

    return flat


def _carry_frames(cell: Any, Q: Array, us: Array) -> tuple[Array, Array]:
    """The frames of every head after some steps, and how much their directions grew."""

    def step(Q, u):
        Q, R = jnp.linalg.qr(transported(cell.transition(None, u), Q))
        return Q, jnp.log(jnp.abs(jnp.diagonal(R, axis1=1, axis2=2)))

    Q, growth = jax.lax.scan(step, Q, us)
    return Q, jnp.sum(growth, axis=0)
