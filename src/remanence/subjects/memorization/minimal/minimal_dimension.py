r"""How small can a memory be? $d^*(w) = \min \{ d(S) : S$ spells $w \}$, with proof.

Without feedback no real $W_h$ whatever does better for an infinite periodic word
(docs/science/memorization.md has the proof); over the rationals $S$ must be a
union of Galois orbits.
"""

import dataclasses
import functools
import math
from collections.abc import Hashable, Sequence

import numpy as np

from ..harmonics import cost, features, Frequencies
from ..words import Word, word as word_of
from .deadline import Deadline
from .energy_bound import energy_floor
from .refutation import Refutation
from .search import interpolation, least_union, Search, strongest_harmonics
from .separation import margin_of, proved_lead, widest


LONG = 400
"""Beyond this period only the strongest harmonics are tried."""


@dataclasses.dataclass(frozen=True, eq=False)
class MinimalDimension:
    """The least number of units that spell a word, or proved bounds on it.

    Every set of harmonics cheaper than `lower`, and every set of cost `upper`
    before `frequencies` in lexicographic order if `optimal` and in time, is contained in
    the frequencies of one of `refuted`, or is cheaper than `floor`.
    """

    word: Word
    field: str
    frequencies: Frequencies
    lower: int
    upper: int
    refuted: tuple[Refutation, ...] = ()
    """Sets that cannot spell the word, each with its multipliers."""
    floor: int = 0
    """Up to here all sets are refuted at once, by their energy (`energy_bound`): the
    bound for long words and short times."""
    first_readout: np.ndarray | None = None
    """The first readout found in the search, its lead proved."""
    left: float = math.inf
    """Seconds of the limit that were left, for a readout of wider margin."""

    @functools.cached_property
    def readout(self) -> np.ndarray:
        """Symbols (in the order of their first use) × features (constant first): the one of
        widest margin that was found by the deadline, its lead proved positive."""
        labels, first = self.word.pattern, self.first_readout
        if first is None:
            if len(labels) > LONG:
                raise ValueError(f"no readout of {len(labels):,} symbols was found in time")
            # All harmonics interpolate the word.
            first = interpolation(labels)
        return widest(labels, self._phi, first, Deadline(self.left)) if self.left else first

    @property
    def _phi(self) -> np.ndarray:
        return features(self.word.period, self.frequencies)

    @property
    def lead(self) -> float:
        """A proved lower bound on the lead of the right logit."""
        return proved_lead(self.readout, self.word.pattern, self._phi)

    @property
    def margin(self) -> float:
        """Distance from the walk to the nearest boundary, every harmonic of radius one."""
        return margin_of(self.readout, self.word.pattern, self._phi)

    @property
    def dimension(self) -> int:
        return self.upper

    @property
    def optimal(self) -> bool:
        return self.lower == self.upper


def minimal_dimension(
    word: str | Sequence[Hashable],
    *,
    field: str = "real",
    end: bool = False,
    stability: float | None = None,
    time_limit: float = 10.0,
):
    """The fewest units from which a word can be spelled for ever without feedback.

    With `end=True` the word is read once and `<END>` follows it; with `stability`
    the network may hear itself, and its closed loop must not stretch distances by
    more than that factor a step. After `time_limit` seconds the bounds reached are
    returned: `.lower` ≤ the truth ≤ `.upper`.

    >>> found = minimal_dimension("00010110111")
    >>> found.dimension, found.frequencies, found.optimal
    (6, (1, 2, 3), True)
    """
    if field not in ("real", "rational"):
        raise ValueError(f'field must be "real" or "rational", got {field!r}')
    if not time_limit >= 0:
        raise ValueError(f"time_limit must not be negative, got {time_limit}")
    w = word_of(word, end=end)
    if stability is not None:
        from .feedback_stability import least_feedback

        return least_feedback(w, stability=stability, time_limit=time_limit)
    if end:
        from .single_pass import single_pass

        if field == "rational":
            raise ValueError('single-pass minima are over the reals; field must be "real"')
        return single_pass(w, time_limit=time_limit)
    return harmonic_dimension(w, field=field, time_limit=time_limit)


def harmonic_dimension(
    w: Word, *, field: str = "real", time_limit: float = 10.0
) -> MinimalDimension:
    """The same for a `Word`, periodic, without feedback."""
    labels, p, deadline = w.pattern, w.period, Deadline(time_limit)
    S, first, lower, refuted = tuple(range(1, p // 2 + 1)), None, 1, ()
    if field == "real":
        S, first = strongest_harmonics(labels, (0.2 if p <= LONG else 0.8) * time_limit)
    if p <= LONG:
        search = Search(labels, 0.7 * deadline.left)
        cheapest, lower = search.cheapest(S) if field == "real" else least_union(search)
        first = first if cheapest == S else search.feasible.get(cheapest)
        S, refuted = cheapest, tuple(search.refuted.values())
    price = cost(S, p)
    # Galois orbits are sets of harmonics too.
    floor = energy_floor(labels) if price > lower else 0
    left = deadline.left if p <= LONG else 0.0
    return MinimalDimension(w, field, S, max(lower, floor), price, refuted, floor, first, left)
