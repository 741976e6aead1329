r"""The cheapest set of harmonics that spells a word, and a proof against each cheaper.

Infeasibility passes to subsets, so a level $D$ is refuted through its largest
sets alone. A good set is guessed first (the multipliers against the present set
name the frequency that breaks them); then the level below it is refuted, or gives a
better set, until nothing cheaper is left.
"""

from collections.abc import Iterator

import numpy as np

from .. import harmonics
from ..harmonics import cost, features, Frequencies
from .deadline import Deadline
from .refutation import Refutation, refutation
from .separation import proved_lead, Separation, separation


TOP_DOWN = 3000
"""Up to this many sets the level just below the guess is tried at once."""
COMPARED = 200_000
"""Pairs of sets compared after the deadline, for the lower bound that was reached."""


class Search:
    """One word's sets, each decided once and with proof."""

    def __init__(self, labels: tuple[int, ...], time_limit: float):
        self.labels, self.period = labels, len(labels)
        self.deadline = Deadline(time_limit)
        self.last = (), Separation(None)
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
        self.last = S, found
        if found.u is not None and proved_lead(found.u, labels, phi) > 0:
            self.feasible[S] = found.u
            return True
        proof = refutation(labels, S, found.pairs, self.deadline)
        if proof is not None:
            self.refuted[members] = proof
            return False
        self.undecided.add(S)
        return None

    def guess(self) -> Frequencies:
        """A feasible set, by growing along the multipliers and then thinning out."""
        S: Frequencies = ()
        everything = tuple(range(1, self.period // 2 + 1))
        while not self.holds(S) and everything != S and not self.deadline.late:
            S = tuple(sorted({*S, self._breaking(S)}))
        if not self.holds(S):
            S = everything
            self.feasible.setdefault(S, interpolation(self.labels))
        for j in sorted(S, key=lambda j: (-cost((j,), self.period), -j)):
            fewer = tuple(i for i in S if i != j)
            if not self.deadline.late and self.holds(fewer):
                S = fewer
        return S

    def _breaking(self, S: Frequencies) -> int:
        """The frequency, outside S, that is strongest in the multipliers against S."""
        if self.last[0] != S:
            phi = features(self.period, S)
            self.last = S, separation(self.labels, phi, deadline=self.deadline)
        found = self.last[1]
        g = np.zeros((max(self.labels) + 1, self.period))
        for (t, k), m in zip(found.pairs, found.multipliers, strict=True):
            g[self.labels[t], t] += m
            g[k, t] -= m
        power = (np.abs(np.fft.rfft(g, axis=1)) ** 2).sum(axis=0)
        power[[0, *S]] = -1.0
        return int(np.argmax(power))

    def cheapest(self) -> tuple[Frequencies, int]:
        """The best set found and a proved lower bound on the cost of any."""
        p, best = self.period, self.guess()
        price = cost(best, p)
        if sum(harmonics.count(p, d) for d in (price - 1, price - 2)) > TOP_DOWN:
            return self._ascending(best)
        while price > 0:
            better = None
            for S in largest(p, price - 1):
                holds = self.holds(S)
                if self.deadline.late or holds is None:
                    return best, self._floor(price)
                if holds:
                    better = S
                    break
            if better is None:
                break
            best, price = better, cost(better, p)
        return best, price

    def _ascending(self, best: Frequencies) -> tuple[Frequencies, int]:
        price = cost(best, self.period)
        for level in range(1, price):
            for S in harmonics.by_cost(self.period, level):
                holds = self.holds(S)
                if holds or self.deadline.late or holds is None:
                    return S if holds else best, level
        return best, price

    def _floor(self, price: int) -> int:
        """The cost up to which everything is seen to be refuted already, plus one."""
        compared = 0
        for level in range(price):
            for S in harmonics.by_cost(self.period, level):
                compared += len(self.refuted)
                if compared > COMPARED or not any(set(S) <= large for large in self.refuted):
                    return level
        return price

    def winners(self, price: int) -> Iterator[Frequencies]:
        """The feasible sets of that cost, in lexicographic order, as long as there is time."""
        for S in harmonics.by_cost(self.period, price):
            if self.deadline.late:
                return
            if self.holds(S):
                yield S


def largest(period: int, price: int) -> Iterator[Frequencies]:
    """Sets that together contain every set of at most that cost."""
    yield from harmonics.by_cost(period, price)
    if period % 2 == price % 2:
        # An even period has sets with p/2, of cost one less, in none of the above; an odd
        # period has none of odd cost.
        yield from harmonics.by_cost(period, price - 1)


def interpolation(labels: tuple[int, ...]) -> np.ndarray:
    """The readout over all harmonics that interpolates the one-hot word: the p
    points are then affinely independent, so it always exists."""
    onehot = np.eye(max(labels) + 1)[list(labels)].T
    phi = features(len(labels), tuple(range(1, len(labels) // 2 + 1)))
    # The rows of phi are orthogonal; their squared lengths are p or p/2.
    return (onehot @ phi.T) / (phi**2).sum(axis=1)
