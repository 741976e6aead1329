r"""The harmonics of a period: $t \mapsto e^{2\pi i j t / p}$ for $1 \le j \le p/2$.

A set $S$ of them is a walk of period $p$ in $d(S) = \sum_{j \in S} (2 - [2j = p])$ dimensions. Tables
come from ball arithmetic: each entry is within half a unit in the last place.
"""

import functools
import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from flint import acb, arb, ctx, fmpq, fmpz


Frequencies = tuple[int, ...]
PRECISION = 96  # bits of the balls; ample for systems of a few dozen unknowns


def cost(frequencies: Sequence[int], period: int) -> int:
    """The dimension of the walk.

    >>> cost((1, 2), 7), cost((1, 4), 8)
    (4, 3)
    """
    return 2 * len(frequencies) - sum(2 * j == period for j in frequencies)


def by_cost(period: int, price: int) -> Iterator[Frequencies]:
    """Every set of that cost, in lexicographic order.

    >>> list(by_cost(6, 3))
    [(1, 3), (2, 3)]
    """
    if price < 0 or (period % 2 and price % 2):
        return
    # With an even period the last frequency costs one, so it makes the cost odd.
    last = (period // 2,) if price % 2 else ()
    for free in itertools.combinations(range(1, (period + 1) // 2), price // 2):
        yield (*free, *last)


def filled(S: Frequencies, room: int, period: int) -> Frequencies:
    """S and the lowest frequencies beside it whose cost fits into the room.

    >>> filled((2,), 3, 8)
    (1, 2, 4)
    """
    others = [j for j in range(1, (period + 1) // 2) if j not in S][: room // 2]
    last = (period // 2,) if room % 2 and period % 2 == 0 and period // 2 not in S else ()
    return (*sorted((*S, *others)), *last)


def orbits(period: int) -> tuple[tuple[int, Frequencies], ...]:
    r"""For each divisor $q > 1$ of the period: $\varphi(q)$ and the frequencies
    of order $q$, which a rational matrix can only have together.

    >>> orbits(6)
    ((1, (3,)), (2, (2,)), (2, (1,)))
    """
    found: dict[int, list[int]] = {q: [] for q in range(2, period + 1) if period % q == 0}
    for j in range(1, period // 2 + 1):
        found[period // math.gcd(j, period)].append(j)
    return tuple((cost(members, period), tuple(members)) for members in found.values())


def totient(n: int) -> int:
    """φ(n), how many numbers up to n are coprime to it."""
    return int(fmpz(n).euler_phi())


@functools.lru_cache(maxsize=64)
def circle(period: int, bits: int = PRECISION) -> tuple[tuple[arb, ...], tuple[arb, ...]]:
    r"""$\cos$ and $\sin$ of $2\pi m / p$ as balls."""
    with ctx.workprec(bits):
        points = [acb(fmpq(2 * m, period)).exp_pi_i() for m in range(period)]
    return tuple(z.real for z in points), tuple(z.imag for z in points)


@functools.lru_cache(maxsize=64)
def table(period: int) -> tuple[np.ndarray, np.ndarray]:
    """The same cosines and sines, rounded to float64."""
    cos, sin = (np.array([float(x.mid()) for x in wave]) for wave in circle(period))
    return cos, sin


def waves(period: int, frequencies: Frequencies, t: np.ndarray) -> np.ndarray:
    """Rows 1, then cosine and sine of each frequency; one column for each of these times."""
    cos, sin = table(period)
    angles = np.asarray(frequencies, dtype=int)[:, None] * t % period
    rows = np.ones((1 + 2 * len(frequencies), len(t)))
    rows[1::2], rows[2::2] = cos[angles], sin[angles]
    half = bool(frequencies) and 2 * frequencies[-1] == period
    return rows[:-1] if half else rows


@functools.lru_cache(maxsize=4096)
def features(period: int, frequencies: Frequencies) -> np.ndarray:
    """The same at all times of a period."""
    found = waves(period, frequencies, np.arange(period))
    found.setflags(write=False)
    return found
