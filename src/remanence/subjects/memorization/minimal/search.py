r"""The cheapest set of harmonics that spells a word, and a proof against each cheaper.

A good set is guessed first: the multipliers against the present set name the
frequency that breaks them. Then all sets are tried, the cheapest first, up to the
first that spells the word; what is refuted refutes its subsets.
"""

import numpy as np

from .. import harmonics
from ..harmonics import cost, features, Frequencies
from .deadline import Deadline
from .refutation import Refutation, refutation
from .separation import proved_lead, Separation, separation


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
        """The first of the cheapest sets, or the best found, and a proved lower bound on
        the cost of any."""
        best = self.guess()
        for level in range(cost(best, self.period) + 1):
            for S in harmonics.by_cost(self.period, level):
                holds = self.holds(S)
                if holds or holds is None or self.deadline.late:
                    return S if holds else best, level
        raise AssertionError("the guess spells the word")


def interpolation(labels: tuple[int, ...]) -> np.ndarray:
    """The readout over all harmonics that interpolates the one-hot word: the p
    points are then affinely independent, so it always exists."""
    onehot = np.eye(max(labels) + 1)[list(labels)].T
    phi = features(len(labels), tuple(range(1, len(labels) // 2 + 1)))
    # The rows of phi are orthogonal; their squared lengths are p or p/2.
    return (onehot @ phi.T) / (phi**2).sum(axis=1)
