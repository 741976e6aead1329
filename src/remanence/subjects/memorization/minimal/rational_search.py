"""The cheapest union of Galois orbits of harmonics that spells a word."""

import heapq
from collections.abc import Iterator

import numpy as np

from ..harmonics import Frequencies, orbits
from .orbit_proofs import Carried
from .search import Search


LONG = 400
"""Beyond this period the search does not begin: see `long_words`."""


def least_union(
    labels: tuple[int, ...], time_limit: float
) -> tuple[Frequencies, int, Carried, np.ndarray | None]:
    """The set, a proved lower bound on its cost, the proofs and the readout found; all
    harmonics, which spell every word, where the time runs out."""
    p = len(labels)
    everything, lower = tuple(range(1, p // 2 + 1)), None
    if p > LONG:
        return everything, 1, Carried(()), None
    search = Search(labels, time_limit)
    for price, S in unions(p):
        held = everything == S or search.holds(S)
        if held is None and lower is None:
            lower = price  # neither proof went through: the bound stays here
        if held or search.late:
            S = S if held else everything
            proofs = Carried(tuple(search.refuted.values()))
            return S, price if lower is None else lower, proofs, search.feasible.get(S)
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
