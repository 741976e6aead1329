r"""The replay window: the least $k$ with $\|y_t - y_t^{(j)}\| \le$ error at every $t$, for all $j \ge k$.

$y_t^{(j)}$ is the output of the network started from its empty state and given the last
$j$ inputs before and at $t$. Errors need not fall with $j$, so a window counts only if
every longer one is as good.
"""

import math
from typing import Any, get_args

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from ..._precision import double
from ..._types import Key
from ..drive import driven
from ..widened import network_in_double
from .cost import window_cost, with_targets
from .record import Of, ReplayWindow
from .runs import follow, full_run, FullRun, Piece


WORK = 2e11
"""Multiplications (steps times weights) above which starts are sampled: half a minute or so."""
PILOT = 32
"""Runs that show, before any is counted, how long one must be followed."""
JUDGES = 0.05
"""The share of positions that must have heard more than a window to judge it."""
LEAST = 4096
"""A step costs no less than this many multiplications, however small the network."""


def replay_window(
    net: Any,
    inputs: Any,
    *,
    error: float = 1e-3,
    of: Of = "outputs",
    lengths: Any = None,
    targets: Any = None,
    work: float = WORK,
    key: Key | None = None,
) -> ReplayWindow:
    """How many of the last inputs give the full run's outputs, at every position.

    The network (or bare cell) is started from its empty state at every place of every
    sequence and followed from there: at position t, after k inputs, its output (or its
    state) is compared with that of the full run in the Euclidean norm. A window counts
    if it and every longer one is within `error`. A position near the beginning has
    heard few inputs: up to there every window is the whole history and exact, so
    position t can show a window of at most t, and says nothing about longer ones.

    Sequences padded to one length come with their `lengths`. With `targets` (whole
    numbers, one a position, or one a sequence where only the last output is read;
    negative: none) the record holds what windows cost in nats and accuracy, the outputs
    being logits; tokens of a language model are their own targets. Above `work` multiplications starts are drawn at
    random from all sequences (`key`), and the record says what that may miss.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> found = replay_window(Linear(0.5 * jnp.eye(1), jnp.ones((1, 1))), jnp.ones((60, 1)))
    >>> found.window, found.at[0][:12].tolist()
    (11.0, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 11])
    """
    if of not in get_args(Of):
        raise ValueError(f"of must be 'outputs' or 'states', got {of!r}")
    if not (isinstance(error, int | float) and 0 < error < math.inf):
        raise ValueError(f"error must be a positive number, got {error!r}")
    with double():
        drive = driven(net, inputs, lengths=lengths)
        net = network_in_double(net)
        ends = np.full(drive.sequences, drive.time)
        if drive.lengths is not None:
            ends = np.asarray(drive.lengths, np.int64)
        if ends.max() < 2:
            raise ValueError("a window leaves nothing out of one input; two would do")
        full = full_run(net, drive.xs, ends)
        full = with_targets(full, np.asarray(inputs), targets, ends)
        tally, drawn = _measured(full, error, of, work, key)
        size = full.outputs if of == "outputs" else full.states
        scale = float(jnp.sqrt(jnp.mean(jnp.sum(size**2, axis=1))))
    return _record(full, tally, drawn, error, of, scale, len(ends))


class _Tally:
    """The last window that fails at every row and in every run; sums for every window."""

    def __init__(self, full: FullRun, starts: np.ndarray, error: float):
        longest = int(full.history.max()) - 1
        self.error, self.starts = error, starts
        self.rows = np.zeros(len(full.history), np.int64)
        self.runs = np.zeros(len(starts), np.int64)
        self.largest, self.squares = np.zeros(longest), np.zeros(longest)
        self.excess, self.gain = np.zeros(longest), np.zeros(longest)
        self.steps = 0

    def add(self, piece: Piece, first: int) -> None:
        k = piece.window - 1
        # Written so that an error that is not a number is no success.
        bad = ~(piece.error <= self.error)
        np.maximum.at(self.rows, piece.row[bad], piece.window[bad])
        np.maximum.at(self.runs, piece.run[bad] + first, piece.window[bad])
        np.maximum.at(self.largest, k, piece.error)
        longest = len(self.squares)
        self.squares += np.bincount(k, piece.error**2, longest)
        if piece.excess is not None and piece.gain is not None:
            self.excess += np.bincount(k, piece.excess, longest)
            self.gain += np.bincount(k, piece.gain, longest)
        self.steps += len(k)


def _measured(
    full: FullRun, error: float, of: str, work: float, key: Key | None
) -> tuple[_Tally, int]:
    """Every start, or as many as the work allows; the number of them drawn freely."""
    starts = full.starts
    weights = jax.tree.leaves((full.net.cell, full.net.W_y, full.net.head))
    price = max(LEAST, sum(w.size for w in weights if hasattr(w, "size")))
    steps = int(np.sum(full.end[starts] - starts))
    if steps * price <= work:
        tally = _Tally(full, starts, error)
        for piece in follow(full, starts, of=of, negligible=error):
            tally.add(piece, 0)
        return tally, len(starts)
    order = jr.permutation(jr.key(0) if key is None else key, len(starts))
    starts = starts[np.asarray(order)]
    tally = _Tally(full, starts, error)
    first = min(PILOT, len(starts))
    for piece in follow(full, starts[:first], of=of, negligible=error):
        tally.add(piece, 0)
    # Decided once, from the pilot alone, so that what follows is a plain random draw.
    afford = max(PILOT, int(work / (price * tally.steps / first)))
    rest = min(afford, len(starts) - first)
    chosen = starts[first : first + rest]
    if rest:
        for piece in follow(full, chosen, of=of, negligible=error):
            tally.add(piece, first)
    tally.starts = starts[: first + rest]
    tally.runs = tally.runs[: first + rest]
    return tally, rest


def _record(full, tally, drawn, error, of, scale, sequences) -> ReplayWindow:
    possible, followed = len(full.starts), len(tally.starts)
    complete = followed == possible
    rooms = full.end[tally.starts] - tally.starts
    if complete:
        windows, room = tally.rows + 1, full.history - 1
    else:
        windows, room = tally.runs + 1, rooms
    worst = window_of_share(windows, room, 0.0)
    K = len(tally.largest)
    pairs = np.zeros(K, np.int64)
    pairs[: rooms.max()] = _judging(rooms)
    grid = 2 ** np.arange(int(math.log2(K)) + 1)
    if math.isfinite(worst):
        grid = np.union1d(grid, int(worst))
    grid = grid[pairs[grid - 1] > 0]
    cost = None
    if full.targets is not None:
        part = None if complete else tally.starts
        cost = window_cost(full, grid, tally.excess, tally.gain, part)
    cuts = np.flatnonzero(full.history == 1)[1:]
    return ReplayWindow(
        error=error,
        of=of,
        worst=worst,
        q95=window_of_share(windows, room, 0.05),
        median=window_of_share(windows, room, 0.5),
        at=tuple(np.split(windows, cuts)) if complete else None,
        largest=tally.largest,
        typical=np.sqrt(tally.squares / np.maximum(pairs, 1)),
        scale=scale,
        positions=len(full.history),
        sequences=sequences,
        starts=followed,
        possible=possible,
        longest=longest_judged(room),
        missed=0.0 if complete else 1 - 0.05 ** (1 / drawn),
        cost=cost,
    )


def window_of_share(windows: np.ndarray, room: np.ndarray, share: float) -> float:
    """The least window that fails at no more than a share of the places that judge it.

    A place judges windows up to its `room`, and fails those below its own window; inf
    if every window that enough places judge fails at more of them.

    >>> window_of_share(np.array([1, 2, 3, 3]), np.array([0, 1, 2, 3]), 0.0)
    3.0
    """
    K = longest_judged(room)
    failing = len(windows) - np.bincount(windows, minlength=K + 2).cumsum()[1 : K + 1]
    fine = np.flatnonzero(failing <= share * _judging(room)[:K])
    return float(fine[0] + 1) if len(fine) else math.inf


def longest_judged(room: np.ndarray) -> int:
    """The longest window that at least `JUDGES` of the places judge."""
    return int(np.sum(_judging(room) >= JUDGES * len(room)))


def _judging(room: np.ndarray) -> np.ndarray:
    """How many places judge windows of 1, 2, ..."""
    return len(room) - np.bincount(room).cumsum()[:-1]
