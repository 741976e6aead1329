r"""The states of one unit that hears itself, $h_t = \sum_{i \ge 1} a^{i-1} c_{w_{t-i}}$, on their line.

An argmax of affine functions divides a line into intervals, so the symbols lie in
some order and for neighbours $j$ above $k$ every $h_s$ with $w_s = j$ is above every
$h_t$ with $w_t = k$: linear in $c$, polynomial in $a$. An order that fails at one $a$
fails by multipliers whose formulas are minors, polynomials in $a$; it goes on
failing until one of them changes its sign, at an algebraic number.
"""

import dataclasses
import functools
import itertools
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpz, fmpz_poly

from .algebraic_numbers import Root, sign_changes
from .deadline import Deadline
from .minors import dot, independent_rows, minors
from .nearest_point import alternative, Whole


Order = tuple[int, ...]
Pair = tuple[int, int]
"""(s, t): the state at s must lie above that at t."""
COARSE, FINE = 10, 48
"""Test points are multiples of 2^-10, finer where something opens or closes between
them; a complete order is met within 2^-48 of where it opens."""
MOST = 400
"""Bits of a test point, beyond which the search for a narrow cell is given up."""
HEAVY = 250
"""Degrees beyond which roots take too long."""
WIDEST = 8
"""More multipliers than this have minors too large to be worth writing out."""


@dataclasses.dataclass(frozen=True)
class Opening:
    """Up to `low` an order fails; at `a` it is met by the input weights, up to scale.

    Where no time was left, or the polynomials grew too large, `a` is None and the
    order may be met anywhere above `low`.
    """

    low: Root
    a: Fraction | None = None
    weights: Whole = ()
    corners: tuple[Pair, ...] = ()


class Line:
    """The states as polynomials in |a|, for one sign of a."""

    def __init__(self, labels: tuple[int, ...], sign: int, deadline: Deadline):
        self.labels, self.sign, self.deadline = labels, sign, deadline
        p, self.symbols = len(labels), max(labels) + 1
        self.times = [[t for t in range(p) if labels[t] == k] for k in range(self.symbols)]
        # c_0 = 0: moving the origin takes the same from every input weight.
        past = lambda t: np.asarray(labels)[(t - 1 - np.arange(p)) % p]
        powers = lambda t, k: fmpz_poly((np.resize([1, sign], p) * (past(t) == k)).tolist())
        self.states = [[powers(t, k) for k in range(1, self.symbols)] for t in range(p)]
        self.apart = functools.lru_cache(maxsize=None)(self._apart)
        self.numbers = functools.lru_cache(maxsize=64)(self._numbers)
        self.multipliers = functools.lru_cache(maxsize=4096)(self._multipliers)

    def _apart(self, pair: Pair) -> tuple[fmpz_poly, ...]:
        """The difference of two states, up to a positive factor, as a function of |a|;
        all differences have the factor a - 1, which is left out."""
        root = fmpz_poly([-1, self.sign])
        rows = [(f - g) // root for f, g in zip(*(self.states[t] for t in pair), strict=True)]
        # Powers of |a| are positive, too.
        power = min(next(i for i, c in enumerate(f.coeffs()) if c != 0) for f in rows if f != 0)
        content = functools.reduce(lambda a, b: a.gcd(b), (f.content() for f in rows))
        return tuple(f.right_shift(power) // content for f in rows)

    def _scaled(self, row: list[fmpz_poly] | tuple[fmpz_poly, ...], a: Fraction) -> Whole:
        """Polynomials at a rational, times the same positive integer for every row."""
        scale = a.denominator ** len(self.labels)
        return tuple((f(fmpq(a.numerator, a.denominator)) * scale).p for f in row)

    def _numbers(self, a: Fraction) -> list[Whole]:
        """The states, times the sign of the factor a - 1 that the differences leave out."""
        found = [self._scaled(row, a) for row in self.states]
        return found if self.sign * a > 1 else [tuple(-x for x in row) for row in found]

    def violated_pair(self, order: Order, a: Fraction, x: Whole) -> Pair | None:
        """The pair of neighbours' states that is furthest from its order."""
        height = [
            sum((u * v for u, v in zip(x, row, strict=True)), fmpz(0)) for row in self.numbers(a)
        ]
        found = []
        for low, high in itertools.pairwise(order):
            s = min(self.times[high], key=height.__getitem__)
            t = max(self.times[low], key=height.__getitem__)
            if not height[s] > height[t]:
                found.append((height[s] - height[t], (s, t)))
        return min(found)[1] if found else None

    def decide(
        self, order: Order, a: Fraction, corners: tuple[Pair, ...]
    ) -> tuple[Whole | None, tuple[Pair, ...]]:
        """Input weights that put the states at a in this order, or the corners against them."""
        wanted = set(itertools.pairwise(order))
        begin = (self.times[order[1]][0], self.times[order[0]][0])
        old = [c for c in corners if (self.labels[c[1]], self.labels[c[0]]) in wanted]
        vector = lambda pair: self._scaled(self.apart(pair), a)
        return alternative(
            [*old, begin], vector, lambda x: self.violated_pair(order, a, x), self.deadline
        )

    def opening(
        self, order: Order, low: Root, limit: Root, corners: tuple[Pair, ...] = ()
    ) -> Opening | None:
        """The first place from `low` on where an order may be met; None if not below `limit`."""
        fine = FINE if len(order) == self.symbols else 2 * COARSE
        bits = COARSE
        while low < limit:
            a = low.above(bits)
            try:
                x, corners = self.decide(order, a, corners)
            except TimeoutError:
                return Opening(low)
            if x is not None:
                if bits >= fine:
                    return Opening(low, a, x, corners)
                bits = fine
                continue
            multipliers = self.multipliers(corners, a) if len(corners) <= WIDEST else []
            if multipliers is None:
                # A coincidence of this one a: look beside it.
                bits += 1
                continue
            if not multipliers or max(f.degree() for f in multipliers) > HEAVY or bits > MOST:
                return Opening(low)
            # From where to where, around a, the corners hold zero between them.
            keys = [tuple(int(c) for c in f.coeffs()) for f in multipliers]
            changes = {x for key in keys for x in sign_changes(key)}
            if any(low < x and x < a for x in changes):
                # A cell so narrow that the step went over it.
                bits *= 2
                continue
            right = min((x for x in changes if x > a), default=None)
            if right is None:
                return None
            low, bits = right, COARSE
        return None

    def _multipliers(self, corners: tuple[Pair, ...], a: Fraction) -> list[fmpz_poly] | None:
        """Polynomials, positive at a, that annul the corners identically."""
        V = [self.apart(pair) for pair in corners]
        kept = independent_rows([self._scaled(v, a) for v in V])
        if len(kept) != len(corners) - 1:
            return None
        m = minors([[v[r] for v in V] for r in kept])
        common = functools.reduce(lambda f, g: f.gcd(g), m)
        m = [f // common for f in m]
        if m[0](fmpq(a.numerator, a.denominator)) < 0:
            m = [-f for f in m]
        return m if not any(dot(m, row) for row in zip(*V, strict=True)) else None
