r"""How small can a walk of harmonics be? $d^*(w) = \min \{ d(S) : S$ spells $w \}$, with proof.

All sets are tried, the cheapest first, up to the first that spells the word; what is
refuted refutes its subsets, so a larger set is tried before. Without feedback no real $W_h$
whatever does better for an infinite periodic word (docs/science/memorization.md has the
proof); over the rationals $S$ must be a union of Galois orbits.
"""

import dataclasses
import functools
import heapq
import math
from collections.abc import Iterator

import numpy as np

from ..harmonics import by_cost, cost, features, filled, Frequencies, orbits, waves
from ..words import Word
from ..written import Labels
from .refutation import Refutation, refutation
from .separation import Deadline, margin_of, proved_lead, separation, widest


LONG = 400  # beyond this period only the strongest harmonics are tried
FAR = 6
"""A set is enlarged by so many units at most: least squares of more takes longer."""
SLACK = 1e-9  # far above what a Fourier transform in float64 rounds, relative to the whole energy


class Bounds:
    """Proved bounds on a number of units."""

    lower: int
    upper: int

    @property
    def dimension(self) -> int:
        return self.upper

    @property
    def optimal(self) -> bool:
        return self.lower == self.upper


@dataclasses.dataclass(frozen=True, eq=False)
class MinimalDimension(Bounds):
    """The least number of units that spell a word, or proved bounds on it.

    Every set of harmonics cheaper than `lower`, and every set of cost `upper` before `frequencies`
    in lexicographic order if `optimal` and in time, is contained in one of `refuted`, or is
    cheaper than `floor`.
    """

    word: Word
    frequencies: Frequencies
    lower: int
    upper: int
    refuted: tuple[Refutation, ...] = ()
    floor: int = 0  # up to here all sets are refuted at once, by their energy
    first_readout: np.ndarray | None = None  # the first found in the search, its lead proved
    left: float = math.inf  # seconds of the limit that were left, for a readout of wider margin

    @functools.cached_property
    def readout(self) -> np.ndarray:
        """Symbols (in the order of their first use) × features (constant first): the one of
        widest margin that was found by the deadline, its lead proved positive."""
        labels, first = self.word.pattern, self.first_readout
        if first is None:
            if len(labels) > LONG:
                raise ValueError(f"no readout of {len(labels):,} symbols was found in time")
            # All harmonics interpolate the word: their rows are orthogonal, p or p/2 long.
            onehot, phi = np.eye(max(labels) + 1)[list(labels)].T, self._phi
            first = (onehot @ phi.T) / (phi**2).sum(axis=1)
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


def harmonic_dimension(
    w: Word, *, field: str = "real", time_limit: float = 10.0
) -> MinimalDimension:
    """The fewest units of a periodic word without feedback."""
    labels, p, deadline = w.pattern, w.period, Deadline(time_limit)
    S, first, lower, refuted = tuple(range(1, p // 2 + 1)), None, 1, ()
    if field == "real":
        S, first = strongest_harmonics(labels, (0.2 if p <= LONG else 0.8) * time_limit)
    if p <= LONG:
        S, first, lower, refuted = _cheapest(labels, field, S, first, Deadline(0.7 * deadline.left))
    price = cost(S, p)
    # Galois orbits are sets of harmonics too.
    floor = energy_floor(labels) if price > lower else 0
    left = deadline.left if p <= LONG else 0.0
    return MinimalDimension(w, S, max(lower, floor), price, refuted, floor, first, left)


def _cheapest(
    labels: Labels, field: str, known: Frequencies, readout: np.ndarray | None, deadline: Deadline
) -> tuple[Frequencies, np.ndarray | None, int, tuple[Refutation, ...]]:
    """The first of the cheapest sets with a readout, or `known`, which spells the word; a
    proved lower bound on the cost of any; and the refutations.

    Over the reals, where `known` is a good bound, a larger set is decided first: it refutes
    many at once, or is a better bound. Where neither proof goes through the bound stays, and
    the search ends; over the rationals `known` is all harmonics, and it goes on.
    """
    p, lower, least, real = len(labels), None, 0, field == "real"
    refuted: dict[frozenset[int], Refutation] = {}
    levels = ((price, S) for price in range(p) for S in by_cost(p, price))
    for price, S in levels if real else unions(p):
        least, members = price if lower is None else lower, frozenset(S)
        if known == S:
            break
        if not any(members <= large for large in refuted):
            u, proof, tried = None, None, S
            while real and (tried := _larger(S, price, known, p)) != S:
                u, proof = _decide(labels, tried, deadline)
                if u is None:
                    break
                known, readout = tried, u
            if proof is None:
                u, proof = _decide(labels, tried := S, deadline)
            if u is not None:
                return S, u, least, tuple(refuted.values())
            if proof is not None:
                refuted[frozenset(tried)] = proof
            else:
                lower = least
        if deadline.late or (lower is not None and real):
            break
    return known, readout, least, tuple(refuted.values())


def _larger(S: Frequencies, price: int, known: Frequencies, period: int) -> Frequencies:
    """The first set that holds S and costs what `known` does, where that comes before; else the
    first that costs one less: both at most `FAR` dearer than S."""
    top = cost(known, period)
    found = filled(S, min(top - price, FAR), period)
    before = found < known and cost(found, period) == top
    return found if before else filled(S, min(top - 1 - price, FAR), period)


def _decide(
    labels: Labels, S: Frequencies, deadline: Deadline
) -> tuple[np.ndarray | None, Refutation | None]:
    """A readout over S that is proved to spell the word, or a proof that there is none; where
    least squares leads to neither, once more from a vertex."""
    phi = features(len(labels), S)
    for vertex in (False, True):
        found = separation(labels, phi, deadline=deadline, vertex=vertex)
        if found.u is not None and proved_lead(found.u, labels, phi) > 0:
            return found.u, None
        if (proof := refutation(labels, S, found.pairs, deadline)) is not None:
            return None, proof
    return None, None


def unions(period: int) -> Iterator[tuple[int, Frequencies]]:
    """Every union of Galois orbits with its cost, the cheapest first.

    >>> [S for _, S in unions(6)]
    [(), (3,), (1,), (2,), (1, 3), (2, 3), (1, 2), (1, 2, 3)]
    """
    parts = orbits(period)
    heap: list[tuple[int, Frequencies, int]] = [(0, (), 0)]
    while heap:
        price, S, at = heapq.heappop(heap)
        yield price, S
        for i in range(at, len(parts)):
            more, members = parts[i]
            heapq.heappush(heap, (price + more, tuple(sorted((*S, *members))), i + 1))


def strongest_harmonics(labels: Labels, time_limit: float) -> tuple[Frequencies, np.ndarray | None]:
    """The fewest of the word's strongest harmonics that a bisection finds to spell it, and a
    readout over them: an upper bound at once; all harmonics, which need none, at the least."""
    deadline, n, p = Deadline(time_limit), max(labels) + 1, len(labels)
    power = (np.abs(np.fft.rfft(np.eye(n)[:, list(labels)], axis=1)) ** 2).sum(axis=0)
    order = np.argsort(-power[1:], kind="stable") + 1
    strongest = lambda count: tuple(sorted(order[:count].tolist()))
    low, high, u = 0, len(order), None
    while high - low > 1 and not deadline.late:
        # Cover's count: about half as many dimensions as points, then bisect.
        middle = min((low + high) // 2, max(low + 1, p // 4))
        phi = waves(p, strongest(middle), np.arange(p))
        found = separation(labels, phi, deadline=deadline).u
        if found is not None and proved_lead(found, labels, phi) > 0:
            u, high = found, middle
        else:
            low = middle
    return strongest(high), u


def energy_floor(labels: Labels) -> int:
    r"""No set of harmonics of smaller cost spells the word: too little energy is in it.

    A set of cost d spells it only if $(d + 1)\,n(n-1)\,\|PX\|^2 \ge p$, $X$ the centred one-hot word
    and $P$ the projection onto the set (docs/science/memorization.md, after Forster's bound on
    sign matrices): the strongest set of each cost decides for all of them at once.

    >>> energy_floor((0, 0, 1)), energy_floor((0,) * 4)
    (2, 0)
    """
    n, p = max(labels) + 1, len(labels)
    if n == 1:
        return 0
    X = -np.full((n, p), 1.0 / n)
    X[list(labels), np.arange(p)] += 1.0
    power = (np.abs(np.fft.rfft(X, axis=1)) ** 2).sum(axis=0) / p
    half = float(power[-1]) if p % 2 == 0 else 0.0
    pairs = 2 * power[1 : (p + 1) // 2]
    strongest = np.concatenate([[0.0], np.cumsum(np.sort(pairs)[::-1])])
    limit = p * (1 - SLACK) / (n * (n - 1))
    # One unit says words of period two; odd costs hold p/2, so odd periods have none.
    for d in range(1 if p == 2 else 2, p, 1 + p % 2):
        # p/2 alone costs one, so the odd costs hold it and the even ones do not.
        energy = power[0] + strongest[min(d // 2, len(pairs))] + (half if d % 2 else 0.0)
        if (d + 1) * (energy + SLACK * p) >= limit:
            return d
    return p - 1
