"""Every start of every sequence, or a random draw of them where that is too much work."""

import jax
import jax.random as jr
import numpy as np

from ..._types import Key
from .runs import follow, FullRun, Piece


WORK = 2e11
"""Multiplications (steps times weights) above which starts are sampled: half a minute or so."""
PILOT = 32
"""Runs that show, before any is counted, how long one must be followed."""
LEAST = 4096
"""A step costs no less than this many multiplications, however small the network."""


class Tally:
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
        """Count the errors of some steps of runs, numbered from `first` on."""
        k = piece.window - 1
        error = np.where(np.isnan(piece.error), np.inf, piece.error)
        bad = error > self.error
        np.maximum.at(self.rows, piece.row[bad], piece.window[bad])
        np.maximum.at(self.runs, piece.run[bad] + first, piece.window[bad])
        np.maximum.at(self.largest, k, error)
        longest = len(self.squares)
        with np.errstate(over="ignore"):
            self.squares += np.bincount(k, error**2, longest)
        if piece.excess is not None and piece.gain is not None:
            self.excess += np.bincount(k, piece.excess, longest)
            self.gain += np.bincount(k, piece.gain, longest)
        self.steps += len(k)


def follow_starts(
    full: FullRun, error: float, *, of: str, work: float, key: Key | None
) -> tuple[Tally, int]:
    """Errors from every start, or from as many as the work allows, and how many count as drawn."""
    starts = full.starts
    weights = jax.tree.leaves((full.net.cell, full.net.W_y, full.net.head))
    price = max(LEAST, sum(w.size for w in weights if hasattr(w, "size")))
    affordable = int(np.sum(full.end[starts] - starts)) * price <= work
    if not affordable:
        order = jr.permutation(jr.key(0) if key is None else key, len(starts))
        starts = starts[np.asarray(order)]
    tally = Tally(full, starts, error)

    def count(first: int, last: int) -> None:
        if first < last:
            for piece in follow(full, starts[first:last], of=of, negligible=error):
                tally.add(piece, first)

    if affordable:
        count(0, len(starts))
        return tally, len(starts)
    first = min(PILOT, len(starts))
    count(0, first)
    # Decided once, from the pilot alone, so that what follows is a plain random draw.
    afford = max(PILOT, int(work / (price * tally.steps / first)))
    last = min(first + afford, len(starts))
    count(first, last)
    tally.starts, tally.runs = starts[:last], tally.runs[:last]
    return tally, last - first
