"""The cheapest union of Galois orbits of harmonics that spells a word."""

import heapq
from collections.abc import Iterator

from ..harmonics import Frequencies, orbits
from .search import Search


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
