r"""How small can a memory be? $d^*(w) = \min \{ d(S) : S$ spells $w \}$, with proof.

Without feedback no real $W_h$ whatever does better for an infinite periodic word
(docs/science/memorization.md has the proof); over the rationals $S$ must be a
union of Galois orbits. Multiplying time by a unit of $\mathbb{Z}_p$, rotating, and
renaming symbols carry feasible sets to feasible sets, so that one answer serves
an orbit of words.
"""

import dataclasses
import functools
import math
from collections.abc import Hashable, Sequence

import numpy as np

from ..constructions import long_words
from ..harmonics import cost, features, fold, Frequencies, units
from ..words import Word, word as word_of
from .deadline import Deadline
from .energy_bound import energy_floor
from .rational_search import least_union
from .refutation import Refutation
from .search import interpolation, Search
from .separation import proved_lead, separation, widest


ORBIT_PERIOD = 20
"""Up to this period words are brought to the first of their orbit and remembered."""
LONG = 400
"""Beyond this period no set is searched for: see `long_words`."""


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
    proofs: tuple[Refutation, ...] = ()
    """Refutations of the first word of the orbit, $v(t) = w(ut + r)$, and its u and r."""
    turn: tuple[int, int] = (1, 0)
    floor: int = 0
    """Up to here all sets are refuted at once, by their energy (`energy_bound`): the
    bound for long words and short times."""
    first_readout: np.ndarray | None = None
    """The first readout found in the search, its lead proved."""
    left: float = math.inf
    """Seconds of the limit that were left, for a readout of wider margin."""

    @functools.cached_property
    def refuted(self) -> tuple[Refutation, ...]:
        """Sets that cannot spell the word, each with its multipliers."""
        return tuple(r.carry_back(self.word.pattern, *self.turn) for r in self.proofs)

    @functools.cached_property
    def readout(self) -> np.ndarray:
        """Symbols (in the order of their first use) × features (constant first): the one of
        widest margin that was found by the deadline, its lead proved positive."""
        labels, first = self.word.pattern, self.first_readout
        if first is not None and not self.left:
            return first
        phi = features(len(labels), self.frequencies)
        # Some readout is owed whatever the time: the set was proved to have one.
        first = separation(labels, phi).u if first is None else first
        u = widest(labels, phi, first, Deadline(self.left))
        if u is None or not proved_lead(u, labels, phi) > 0:
            u = interpolation(labels)
            if len(u[0]) != len(phi) or not proved_lead(u, labels, phi) > 0:
                raise AssertionError(f"the readout over {self.frequencies} lost its proof")
        return u

    @functools.cached_property
    def _lead_and_margin(self) -> tuple[float, float]:
        return long_words.lead_and_margin(self.word.pattern, self.frequencies, self.readout)

    @property
    def lead(self) -> float:
        """A proved lower bound on the lead of the right logit."""
        return self._lead_and_margin[0]

    @property
    def margin(self) -> float:
        """Distance from the walk to the nearest boundary, every harmonic of radius one."""
        return self._lead_and_margin[1]

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

        return single_pass(w, field=field, time_limit=time_limit)
    return harmonic_dimension(w, field=field, time_limit=time_limit)


def harmonic_dimension(
    w: Word, *, field: str = "real", time_limit: float = 10.0
) -> MinimalDimension:
    """The same for a `Word`, periodic, without feedback."""
    labels, p, deadline = w.pattern, w.period, Deadline(time_limit)
    lower, proofs, turn, first, final = 0, (), (1, 0), None, False
    if p > LONG and field == "rational":
        S, lower = tuple(range(1, p // 2 + 1)), 1
    elif p > LONG:
        (S, first), final = long_words.strongest_harmonics(labels, 0.8 * time_limit), True
    elif field == "rational":
        search = Search(labels, 0.8 * time_limit)
        S, lower = least_union(search)
        proofs, first = tuple(search.refuted.values()), search.feasible.get(S)
    elif p <= ORBIT_PERIOD:
        first_word, turn = representative(labels)
        winners, lower, proofs = _orbit_minimum(first_word, time_limit)
        back = pow(turn[0], -1, p) if p > 1 else 1
        S = min(fold(S, back, p) for S in winners)
    else:
        search = Search(labels, 0.7 * time_limit)
        S, lower = search.cheapest()
        if cost(S, p) == lower:
            S = next(search.winners(lower), S)
        proofs, first = tuple(search.refuted.values()), search.feasible[S]
        if cost(S, p) > lower:
            shorter, found = long_words.strongest_harmonics(labels, 0.6 * deadline.left)
            if cost(shorter, p) < cost(S, p):
                S, first, final = shorter, found, True
    price, floor = cost(S, p), 0
    if price > lower and p > ORBIT_PERIOD:
        # Galois orbits are sets of harmonics too.
        floor = energy_floor(labels)
    left = 0.0 if final else deadline.left
    lower = max(lower, floor)
    return MinimalDimension(w, field, S, lower, price, proofs, turn, floor, first, left)


@functools.lru_cache(maxsize=32)
def _images(period: int) -> tuple[list[tuple[int, int]], np.ndarray]:
    turns = [(u, r) for u in units(period) for r in range(period)]
    t = np.arange(period)
    return turns, np.array([(u * t + r) % period for u, r in turns])


def representative(labels: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, int]]:
    """The least word $t \\mapsto w(ut + r)$, renamed, with its u and r."""
    turns, at = _images(len(labels))
    images = np.asarray(labels)[at]
    # Number the symbols of each row as they appear: by their first places.
    first = (images[:, :, None] == np.arange(max(labels) + 1)).argmax(axis=1)
    images = np.take_along_axis(first.argsort(axis=1).argsort(axis=1), images, axis=1)
    best = int(np.lexsort(images.T[::-1])[0])
    return tuple(images[best].tolist()), turns[best]


@functools.lru_cache(maxsize=65536)
def _orbit_minimum(
    labels: tuple[int, ...], time_limit: float
) -> tuple[tuple[Frequencies, ...], int, tuple[Refutation, ...]]:
    """The cheapest sets of one word, a lower bound on their cost, and the proofs."""
    search = Search(labels, time_limit)
    S, lower = search.cheapest()
    winners = (S,)
    if cost(S, len(labels)) == lower:
        winners = tuple(search.winners(lower)) or winners
    return winners, lower, tuple(search.refuted.values())
