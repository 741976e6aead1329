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

from .algebraic_numbers import coefficients, Root, sign_changes
from .deadline import Deadline
from .minors import independent_rows, minors
from .nearest_point import Alternative, alternative, Whole


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
        p, n = len(labels), max(labels) + 1
        self.symbols = n
        self.times = [[t for t in range(p) if labels[t] == k] for k in range(n)]
        # c_0 = 0: moving the origin takes the same from every input weight.
        signs = np.resize([1, sign], p)
        past = lambda t: np.asarray(labels)[(t - 1 - np.arange(p)) % p]
        self.states = [
            [fmpz_poly((signs * (past(t) == k)).tolist()) for k in range(1, n)] for t in range(p)
        ]
        self.apart = functools.lru_cache(maxsize=None)(self._apart)
        self.numbers = functools.lru_cache(maxsize=64)(self._numbers)
        self.multipliers = functools.lru_cache(maxsize=4096)(self._multipliers)

    def _apart(self, pair: Pair) -> tuple[fmpz_poly, ...]:
        """The difference of two states, up to a positive factor, as a function of |a|;
        all differences have the factor a - 1, which is left out."""
        s, t = pair
        root = fmpz_poly([-1, self.sign])
        rows = [(f - g) // root for f, g in zip(self.states[s], self.states[t], strict=True)]
        power = min(_power(f) for f in rows if f != 0)
        content = functools.reduce(lambda a, b: a.gcd(b), (f.content() for f in rows))
        return tuple(f.right_shift(power) // content for f in rows)

    def vector(self, pair: Pair, a: Fraction) -> Whole:
        """The same at a rational, times the same positive integer for every pair."""
        at, scale = fmpq(a.numerator, a.denominator), a.denominator ** len(self.labels)
        return tuple((f(at) * scale).p for f in self.apart(pair))

    def _numbers(self, a: Fraction) -> list[list[fmpz]]:
        at, scale = fmpq(a.numerator, a.denominator), a.denominator ** len(self.labels)
        # The factor a - 1 that the differences leave out.
        scale *= 1 if self.sign * a > 1 else -1
        return [[(f(at) * scale).p for f in row] for row in self.states]

    def violated(self, order: Order, a: Fraction, x: Whole) -> Pair | None:
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

    def decide(self, order: Order, a: Fraction, corners: list[Pair]) -> Alternative[Pair]:
        """Input weights that put the states at a in this order, or the corners against them."""
        wanted = set(itertools.pairwise(order))
        begin = [(self.times[order[1]][0], self.times[order[0]][0])]
        old = [c for c in corners if (self.labels[c[1]], self.labels[c[0]]) in wanted]
        return alternative(
            [*old, *begin],
            lambda pair: self.vector(pair, a),
            lambda x: self.violated(order, a, x),
            self.deadline,
        )

    def opening(
        self, order: Order, low: Root, limit: Root, hint: tuple[Pair, ...] = ()
    ) -> Opening | None:
        """The first place from `low` on where an order may be met; None if not below `limit`."""
        fine = FINE if len(order) == self.symbols else 2 * COARSE
        bits, corners = COARSE, list(hint)
        while low < limit:
            a = low.above(bits)
            try:
                found = self.decide(order, a, corners)
            except TimeoutError:
                return Opening(low)
            if found.x is not None:
                if bits >= fine:
                    return Opening(low, a, found.x, found.corners)
                bits = fine
                continue
            if len(found.corners) > WIDEST:
                return Opening(low)
            corners, multipliers = list(found.corners), self.multipliers(found.corners, a)
            if multipliers is None:
                # A coincidence of this one a: look beside it.
                bits += 1
                continue
            if max(f.degree() for f in multipliers) > HEAVY:
                return Opening(low)
            # From where to where, around a, the corners hold zero between them.
            changes = {x for f in multipliers for x in sign_changes(coefficients(f))}
            left = max((x for x in changes if x < a), default=None)
            right = min((x for x in changes if x > a), default=None)
            if left is not None and left > low:
                # A cell so narrow that the step went over it.
                if bits > MOST:
                    return Opening(low)
                bits *= 2
                continue
            if right is None:
                return None
            low, bits = right, COARSE
        return None

    def _multipliers(self, corners: tuple[Pair, ...], a: Fraction) -> list[fmpz_poly] | None:
        """Polynomials, positive at a, that annul the corners identically."""
        V = [self.apart(pair) for pair in corners]
        at = [list(self.vector(pair, a)) for pair in corners]
        kept = independent_rows(at)
        if len(kept) != len(corners) - 1:
            return None
        m = minors([[v[r] for v in V] for r in kept])
        common = functools.reduce(lambda f, g: f.gcd(g), m)
        m = [f // common for f in m]
        if m[0](fmpq(a.numerator, a.denominator)) < 0:
            m = [-f for f in m]
        for r in range(len(V[0])):
            if sum((f * v[r] for f, v in zip(m, V, strict=True)), fmpz_poly([])) != 0:
                return None
        return m


def _power(f: fmpz_poly) -> int:
    """How often a divides a polynomial in a."""
    return next(i for i, c in enumerate(f.coeffs()) if c != 0)
