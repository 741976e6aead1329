r"""Runs from the empty state beside the full run: $e(t, k) = \|y_t - y_t^{(k)}\|$.

A run started at $a$ stands at $t = a + k$ after $k$ steps, having read the last $k$ inputs: one run
shows every window at once. It is followed to the end of its sequence, or until its whole state agrees
with the full run's to rounding. Many runs advance side by side, a few steps at a time, and a run that
ends makes room for the next. All starts are followed, or a random draw where that is too much work.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.flatten_util import ravel_pytree

from ..._types import Key
from ...nets import Recurrent, unroll


SLOTS = 256  # runs side by side
STEPS = 32  # steps between two looks at which runs have ended
ROUNDING = 1e-12  # of the state's norm: two runs this near are one
WORK = 2e11
"""Multiplications (steps times weights) above which starts are sampled: half a minute or so."""
PILOT = 32
"""Runs that show, before any is counted, how long one must be followed."""
LEAST = 4096
"""A step costs no less than this many multiplications, however small the network."""


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


class Tally:
    """The last window that fails at every row and in every run; sums for every window."""

    def __init__(self, full: FullRun, starts: np.ndarray, error: float):
        longest = int(full.history.max()) - 1
        self.error, self.starts = error, starts
        self.rows = np.zeros(len(full.history), np.int64)
        self.runs = np.zeros(len(starts), np.int64)
        self.largest, self.squares = np.zeros(longest), np.zeros(longest)
        self.excess, self.gain = np.zeros(longest), np.zeros(longest)
        """Loss above that of the full run; hits of the short runs less those of the full one."""
        self.steps = 0

    def add(
        self, run: np.ndarray, window: np.ndarray, row: np.ndarray, error: np.ndarray, *scores
    ) -> None:
        """Count some steps of runs: the errors there and, with targets, excess and gain."""
        k, longest = window - 1, len(self.squares)
        error = np.where(np.isnan(error), np.inf, error)
        bad = error > self.error
        np.maximum.at(self.rows, row[bad], window[bad])
        np.maximum.at(self.runs, run[bad], window[bad])
        np.maximum.at(self.largest, k, error)
        with np.errstate(over="ignore"):
            self.squares += np.bincount(k, error**2, longest)
        for total, score in zip((self.excess, self.gain), scores, strict=False):
            total += np.bincount(k, score, longest)
        self.steps += len(k)


def full_run(net: Recurrent, xs: Any, ends: np.ndarray) -> FullRun:
    """The full run of a network in double; `ends` are the lengths of the sequences."""
    states, outputs = _full_states(net, xs)
    S, T = xs.shape[:2]
    time = np.arange(T)
    rows = np.flatnonzero((time < ends[:, None]).ravel())
    # In NumPy: JAX compiles several programs for every shape.
    flat = lambda a: jax.device_put(np.asarray(a).reshape(S * T, *a.shape[2:])[rows])
    history = np.tile(time + 1, S)[rows]
    end = np.repeat(np.cumsum(ends), ends)
    return FullRun(net, flat(xs), flat(states), flat(outputs), history, end)


@eqx.filter_jit
def _full_states(net, xs):
    def one(xs):
        states = unroll(net.cell, net.cell.initial_state(), xs)
        return jax.vmap(_flat)(states), jax.vmap(net.read)(states)

    return jax.vmap(one)(xs)


def _flat(h):
    return ravel_pytree(h)[0]


@eqx.filter_jit
def _scores(outputs, targets):
    return jax.vmap(_score)(outputs, targets)


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


def follow_starts(
    full: FullRun, error: float, *, of: str, work: float, key: Key | None
) -> tuple[Tally, int]:
    """Errors from every start, or from as many as the work allows, and how many count as drawn."""
    starts = full.starts
    weights = jax.tree.leaves((full.net.cell, full.net.W_y, full.net.head))
    price = max(LEAST, sum(w.size for w in weights if hasattr(w, "size")))
    if int(np.sum(full.end[starts] - starts)) * price <= work:
        tally = Tally(full, starts, error)
        follow(full, tally, 0, len(starts), of=of)
        return tally, len(starts)
    order = jr.permutation(jr.key(0) if key is None else key, len(starts))
    tally = Tally(full, starts[np.asarray(order)], error)
    first = min(PILOT, len(starts))
    follow(full, tally, 0, first, of=of)
    # Decided once, from the pilot alone, so that what follows is a plain random draw.
    afford = max(PILOT, int(work / (price * tally.steps / first)))
    last = min(first + afford, len(starts))
    follow(full, tally, first, last, of=of)
    tally.starts, tally.runs = tally.starts[:last], tally.runs[:last]
    return tally, last - first


def follow(full: FullRun, tally: Tally, first: int, last: int, *, of: str) -> None:
    """Count the errors of the runs from some of the tally's starts."""
    cell, starts = full.net.cell, tally.starts
    slots = min(SLOTS, last - first)
    steps = min(STEPS, int(full.history.max()))
    scores = None if full.targets is None else _scores(full.outputs, full.targets)
    given = (full.xs, full.states, full.outputs, full.targets, scores)
    tile = lambda leaf: np.zeros((slots, *np.shape(leaf)))
    h = jax.tree.map(tile, cell.initial_state())
    # The longest runs first, so that none is left alone at the end.
    length = (full.end[starts] - starts)[first:last]
    waiting = first + np.argsort(-length, kind="stable")
    run = np.full(slots, -1)
    row, window = np.zeros(slots, np.int64), np.zeros(slots, np.int64)
    while len(waiting) or (run >= 0).any():
        fresh = run < 0
        fresh[np.flatnonzero(fresh)[len(waiting) :]] = False
        run[fresh], waiting = np.split(waiting, [fresh.sum()])
        row[fresh], window[fresh] = starts[run[fresh]], 0
        h, found = _advance(full.net, given, h, fresh, row, of, steps)
        same, gap, scores = jax.tree.map(np.asarray, found)
        at = row + np.arange(steps)[:, None]
        end = np.where(run < 0, 0, full.end[starts[run]])
        k = window + 1 + np.arange(steps)[:, None]
        columns = (np.broadcast_to(run, at.shape), k, at, gap, *(scores or ()))
        tally.add(*(column[at < end] for column in columns))
        row, window = row + steps, window + steps
        # Errors far below what is allowed may go uncounted.
        same = same & (gap <= 1e-3 * tally.error)
        run[(row >= end) | same.all(axis=0)] = -1
