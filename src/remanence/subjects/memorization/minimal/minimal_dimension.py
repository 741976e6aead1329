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
from ..harmonics import cost, features, folded, Frequencies, units
from ..words import Word, word as spelled_word
from .deadline import Deadline, NEVER
from .energy_bound import energy_floor, two_unit_floor
from .orbit_proofs import Carried
from .rational_search import least_union, LONG as LONG
from .refutation import Refutation
from .search import Search, spelled_out
from .separation import proved_gap, radius, separation, widest


ORBIT_PERIOD = 20
"""Up to this period words are brought to the first of their orbit and remembered."""


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
    carried: Carried
    """The proofs, as they were found for the first word of the orbit."""
    floor: int = 0
    """Up to here all sets are refuted at once, by their energy or by turns round a
    polygon (`energy_bound`): the bound for long words and short times."""
    series: np.ndarray | None = None
    """The readout that came with the frequencies, for long words."""
    plain: np.ndarray | None = None
    """The first readout found in the search, its lead proved."""
    left: float = math.inf
    """Seconds of the limit that were left, for a readout of wider margin."""

    @functools.cached_property
    def refuted(self) -> tuple[Refutation, ...]:
        """Sets that cannot spell the word, each with its multipliers."""
        return self.carried.refuted(self.word.pattern)

    @functools.cached_property
    def readout(self) -> np.ndarray:
        """Symbols (in the order of their first use) × features (constant first)."""
        if self.series is not None:
            return self.series
        pattern, deadline = self.word.pattern, Deadline(self.left)
        return best_readout(pattern, self.frequencies, self.plain, deadline)

    @functools.cached_property
    def _leads(self) -> tuple[float, float]:
        return long_words.leads(self.word.pattern, self.frequencies, self.readout)

    @property
    def lead(self) -> float:
        """A proved lower bound on the lead of the right logit."""
        labels = self.word.pattern
        if self.series is not None:
            return self._leads[0]
        return proved_gap(self.readout, labels, features(len(labels), self.frequencies))

    @property
    def margin(self) -> float:
        """Distance from the walk to the nearest boundary, every harmonic of radius one."""
        labels = self.word.pattern
        if self.series is not None:
            return self._leads[1]
        return radius(self.readout, labels, features(len(labels), self.frequencies))

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
    w = spelled_word(word, end=end)
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
    """The same for a word of `tasks.words`, periodic, without feedback."""
    labels, p, deadline = w.pattern, w.period, Deadline(time_limit)
    floor, series, plain = 0, None, None
    if field == "rational":
        S, lower, carried, plain = least_union(labels, 0.8 * time_limit)
    elif p > LONG:
        S, series = long_words.sparse(labels, 0.8 * time_limit)
        lower, carried = 0, Carried(())
    elif p <= ORBIT_PERIOD:
        S, lower, carried = _through_orbit(labels, time_limit)
    else:
        search = Search(labels, 0.7 * time_limit)
        S, lower = search.cheapest()
        if cost(S, p) == lower:
            S = next(search.winners(lower), S)
        carried, plain = Carried(tuple(search.refuted.values())), search.feasible[S]
        if cost(S, p) > lower:
            shorter, found = long_words.sparse(labels, 0.6 * deadline.left)
            S, series = (shorter, found) if cost(shorter, p) < cost(S, p) else (S, None)
    price = cost(S, p)
    if price > lower and p > ORBIT_PERIOD:
        # Galois orbits are sets of harmonics too.
        floor = max(energy_floor(labels), two_unit_floor(labels, deadline))
    best = series, plain, deadline.left
    return MinimalDimension(w, field, S, max(lower, floor), price, carried, floor, *best)


def best_readout(
    labels: tuple[int, ...],
    S: Frequencies,
    first: np.ndarray | None = None,
    deadline: Deadline = NEVER,
) -> np.ndarray:
    """The readout of widest margin over a feasible set, its lead proved positive; as
    wide as was found by the deadline, from the `first` that is known."""
    phi = features(len(labels), S)
    # Some readout is owed whatever the time: the set was proved to have one.
    first = separation(labels, phi).u if first is None else first
    u = widest(labels, phi, first, deadline)
    if u is None or not proved_gap(u, labels, phi) > 0:
        u = spelled_out(labels)
        if len(u[0]) != len(phi) or not proved_gap(u, labels, phi) > 0:
            raise AssertionError(f"the readout over {S} lost its proof")
    return u


def _through_orbit(labels: tuple[int, ...], time_limit: float) -> tuple[Frequencies, int, Carried]:
    p = len(labels)
    first, unit, shift = representative(labels)
    winners, lower, refuted = _resolved(first, time_limit)
    back = pow(unit, -1, p) if p > 1 else 1
    S = min(folded(S, back, p) for S in winners)
    return S, lower, Carried(refuted, unit, shift)


@functools.lru_cache(maxsize=32)
def _images(period: int) -> tuple[list[tuple[int, int]], np.ndarray]:
    turns = [(u, r) for u in units(period) for r in range(period)]
    t = np.arange(period)
    return turns, np.array([(u * t + r) % period for u, r in turns])


def representative(labels: tuple[int, ...]) -> tuple[tuple[int, ...], int, int]:
    """The least word $t \\mapsto w(ut + r)$, renamed, with its u and r."""
    turns, at = _images(len(labels))
    images = np.asarray(labels)[at]
    if max(labels) > 1:
        # Number the symbols of each row as they appear: by their first places.
        n = max(labels) + 1
        first = (images[:, :, None] == np.arange(n)).argmax(axis=1)
        names = first.argsort(axis=1).argsort(axis=1)
        images = np.take_along_axis(names, images, axis=1)
    elif max(labels) == 1:
        images = images ^ images[:, :1]
    best = int(np.lexsort(images.T[::-1])[0])
    return tuple(images[best].tolist()), *turns[best]


@functools.lru_cache(maxsize=65536)
def _resolved(labels: tuple[int, ...], time_limit: float):
    search = Search(labels, time_limit)
    S, lower = search.cheapest()
    winners = (S,)
    if cost(S, len(labels)) == lower:
        winners = tuple(search.winners(lower)) or winners
    return winners, lower, tuple(search.refuted.values())
