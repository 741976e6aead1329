r"""The cheapest set of harmonics that spells a word, and a proof against each cheaper.

All sets are tried, the cheapest first, up to the first that spells the word; what
is refuted refutes its subsets.
"""

import heapq
from collections.abc import Iterator

import numpy as np

from .. import harmonics
from ..harmonics import cost, features, Frequencies, orbits, waves
from .deadline import Deadline
from .refutation import Refutation, refutation
from .separation import proved_lead, separation


class Search:
    """One word's sets, each decided once and with proof."""

    def __init__(self, labels: tuple[int, ...], time_limit: float):
        self.labels, self.period = labels, len(labels)
        self.deadline = Deadline(time_limit)
        self.feasible: dict[Frequencies, np.ndarray] = {}
        self.refuted: dict[frozenset[int], Refutation] = {}
        self.undecided: set[Frequencies] = set()

    def holds(self, S: Frequencies) -> bool | None:
        """Whether S spells the word; None where neither proof went through in time."""
        members = frozenset(S)
        if S in self.feasible:
            return True
        if S in self.undecided:
            return None
        if any(members <= large for large in self.refuted):
            return False
        phi, labels = features(self.period, S), self.labels
        found = separation(labels, phi, deadline=self.deadline)
        if found.u is not None and proved_lead(found.u, labels, phi) > 0:
            self.feasible[S] = found.u
            return True
        proof = refutation(labels, S, found.pairs, self.deadline)
        if proof is not None:
            self.refuted[members] = proof
            return False
        self.undecided.add(S)
        return None

    def cheapest(self, best: Frequencies) -> tuple[Frequencies, int]:
        """The first of the cheapest sets, or `best`, which is known to spell the word, where
        the time runs out; and a proved lower bound on the cost of any."""
        for level in range(cost(best, self.period) + 1):
            for S in harmonics.by_cost(self.period, level):
                holds = best == S or self.holds(S)
                if holds or holds is None or self.deadline.late:
                    return S if holds else best, level
        raise AssertionError(f"{best} is no set of harmonics of period {self.period}")


def strongest_harmonics(
    labels: tuple[int, ...], time_limit: float
) -> tuple[Frequencies, np.ndarray | None]:
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


def least_union(search: Search) -> tuple[Frequencies, int]:
    """The set and a proved lower bound on its cost; all harmonics, which spell every
    word, where the time runs out."""
    everything, lower = tuple(range(1, search.period // 2 + 1)), None
    for price, S in unions(search.period):
        holds = everything == S or search.holds(S)
        if holds is None and lower is None:
            lower = price  # neither proof went through: the bound stays here
        if holds or search.deadline.late:
            return S if holds else everything, price if lower is None else lower
    raise AssertionError("the union of all orbits spells every word")


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


def interpolation(labels: tuple[int, ...]) -> np.ndarray:
    """The readout over all harmonics that interpolates the one-hot word: the p
    points are then affinely independent, so it always exists."""
    onehot = np.eye(max(labels) + 1)[list(labels)].T
    phi = features(len(labels), tuple(range(1, len(labels) // 2 + 1)))
    # The rows of phi are orthogonal; their squared lengths are p or p/2.
    return (onehot @ phi.T) / (phi**2).sum(axis=1)
