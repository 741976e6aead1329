r"""Runs from the empty state beside the full run: $e(t, k) = \|y_t - y_t^{(k)}\|$.

A run started at $a$ stands at position $t = a + k$ after $k$ steps, having heard the
last $k$ inputs: one run shows every window at once. A run is followed to the end of its
sequence, or until its whole state agrees with the full run's to rounding, since from
there on the two are one. Many runs advance side by side, a few steps at a time, and a
run that ends makes room for the next.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from ...nets import Recurrent, unroll


SLOTS = 256  # runs side by side
STEPS = 32  # steps between two looks at which runs have ended
ROUNDING = 1e-12  # of the state's norm: two runs this near are one


@dataclasses.dataclass(frozen=True)
class FullRun:
    """Sequences without padding, one after the other, with their states and outputs.

    Row `r` is one position. `history[r]` counts the inputs up to it, `end[r]` is the row
    behind the last one of its sequence.
    """

    net: Recurrent
    xs: Any
    states: Any
    outputs: Any
    history: np.ndarray
    end: np.ndarray
    targets: Any = None
    """The output that is right at each row, -1 where none is; None without targets."""
    unit: str = "target"

    @property
    def starts(self) -> np.ndarray:
        """The rows at which an empty state has forgotten something."""
        return np.flatnonzero(self.history > 1)


@dataclasses.dataclass(frozen=True)
class Piece:
    """Some steps of some runs: which run, which window, which row, and the errors there."""

    run: np.ndarray
    window: np.ndarray
    row: np.ndarray
    error: np.ndarray
    excess: np.ndarray | None = None
    """Loss above that of the full run, where there are targets."""
    gain: np.ndarray | None = None
    """1 where only the short run is right, -1 where only the full one is."""


def full_run(net: Recurrent, xs: Any, ends: np.ndarray) -> FullRun:
    """The full run of a network in double; `ends` are the lengths of the sequences."""
    states, outputs = _full_states(net, xs)
    S, T = xs.shape[:2]
    time = np.arange(T)
    rows = np.flatnonzero((time < ends[:, None]).ravel())
    flat = lambda a: a.reshape(S * T, *a.shape[2:])[rows]
    history = np.tile(time + 1, S)[rows]
    end = np.repeat(np.cumsum(ends), ends)
    return FullRun(net, flat(xs), flat(states), flat(outputs), history, end)


@eqx.filter_jit
def _full_states(net, xs):
    cell = net.cell

    def one(xs):
        states = unroll(cell, cell.initial_state(), xs)
        return jax.vmap(_flat)(states), jax.vmap(net.read)(states)

    return jax.vmap(one)(xs)


def _flat(h):
    return ravel_pytree(h)[0]


def _score(y, target):
    """Cross-entropy in nats, and whether the largest output is the target's; 0 without one."""
    there = jnp.maximum(target, 0)
    loss = jax.nn.logsumexp(y) - y[there]
    right = (jnp.argmax(y) == there).astype(y.dtype)
    return jnp.where(target >= 0, loss, 0.0), jnp.where(target >= 0, right, 0.0)


@eqx.filter_jit
def _advance(net, full, h, fresh, row, of, steps):
    xs, states, outputs, targets, scores = full
    cell = net.cell
    empty = lambda old, new: jnp.where(fresh.reshape(-1, *(1,) * (old.ndim - 1)), new, old)
    h = jax.tree.map(empty, h, jax.tree.map(jnp.asarray, cell.initial_state()))

    def step(h, j):
        at = jnp.minimum(row + j, xs.shape[0] - 1)
        h = jax.vmap(cell)(h, xs[at])
        y = jax.vmap(net.read)(h)
        distance = jnp.linalg.norm(jax.vmap(_flat)(h) - states[at], axis=1)
        # By the norm at this step: a state that is all but 0 may grow again.
        same = distance <= ROUNDING * jnp.linalg.norm(states[at], axis=1)
        gap = jnp.linalg.norm(y - outputs[at], axis=1) if of == "outputs" else distance
        if targets is None:
            return h, (same, gap, None)
        loss, right = jax.vmap(_score)(y, targets[at])
        return h, (same, gap, (loss - scores[0][at], right - scores[1][at]))

    return jax.lax.scan(step, h, jnp.arange(steps))


def follow(full: FullRun, starts: np.ndarray, *, of: str, negligible: float) -> Iterator[Piece]:
    """Follow runs from the given rows; errors far below `negligible` may go unreported."""
    cell = full.net.cell
    slots = min(SLOTS, len(starts))
    steps = min(STEPS, int(full.history.max()))
    given = (full.xs, full.states, full.outputs, full.targets)
    asked = full.targets is not None
    given += (jax.vmap(_score)(full.outputs, full.targets) if asked else None,)
    tile = lambda leaf: jnp.zeros((slots, *jnp.shape(leaf)))
    h = jax.tree.map(tile, cell.initial_state())
    # The longest runs first, so that none is left alone at the end.
    order = np.argsort(starts - full.end[starts], kind="stable")
    run = np.full(slots, -1)
    row, window = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    following = 0
    while True:
        free = np.flatnonzero(run < 0)[: len(order) - following]
        run[free] = order[following : following + len(free)]
        following += len(free)
        row[free], window[free] = starts[run[free]], 0
        if (run < 0).all():
            return
        fresh = np.zeros(slots, bool)
        fresh[free] = True
        h, found = _advance(full.net, given, h, jnp.asarray(fresh), jnp.asarray(row), of, steps)
        same, gap, scores = jax.tree.map(np.asarray, found)
        at = row + np.arange(steps)[:, None]
        end = np.where(run < 0, 0, full.end[starts[run]])
        k = window + 1 + np.arange(steps)[:, None]
        runs = np.broadcast_to(run, at.shape)
        columns = (runs, k, at, gap, *(scores or ()))
        yield Piece(*(column[at < end] for column in columns))
        row, window = row + steps, window + steps
        same = same & (gap <= 1e-3 * negligible)
        run[(row >= end) | same.all(axis=0)] = -1
