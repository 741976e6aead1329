r"""The least $|a|$ with which one unit, $h' = a h + c_x$, says a word of two symbols: exact.

On a line an argmax divides into intervals, so the states before a 1 must lie on one
side of those before a 0. With $c_0 = 0$ and $c_1 = \pm 1$ the difference of two
states is a polynomial in $|a|$, and all differences must have the same sign. Two of
opposite signs refute every $|a|$ until their product changes its sign, at an
algebraic number; the next two are sought just above it. Comparisons are between
enclosures that do not overlap: nothing is left to a tolerance.
"""

import dataclasses
import itertools
import math
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz_poly

from .deadline import Deadline


FINE, FINEST = 48, 96
"""Bits of the step above a root, and of the finest one, for narrow cells."""
BITS = 256


@dataclasses.dataclass(frozen=True)
class Opening:
    """No |a| up to `low`, a root of `factor`, serves, and `a` does.

    `exact` says that every |a| between them serves too, so that `low` is the infimum.
    """

    low: arb
    factor: fmpz_poly
    a: Fraction
    exact: bool

    @property
    def interval(self) -> tuple[float, float]:
        """Around the infimum; the same float twice where it is one."""
        middle = float(self.low.mid())
        if self.exact and self.factor(fmpq(*middle.as_integer_ratio())) == 0:
            return middle, middle
        high = middle if self.exact else float(abs(self.a))
        return math.nextafter(middle, -math.inf), math.nextafter(high, math.inf)


def least_opening(labels: tuple[int, ...], deadline: Deadline) -> Opening:
    """The infimum of |a| over both signs; `TimeoutError` at the deadline."""
    positive, negative = (_opening(labels, sign, deadline) for sign in (1, -1))
    return negative if negative.low < positive.low else positive


def _opening(labels: tuple[int, ...], sign: int, deadline: Deadline) -> Opening:
    differences = _differences(labels, sign)
    low, factor, bits = arb(0), fmpz_poly([0, 1]), FINE
    while bits <= FINEST:
        deadline.check()
        a = _above(low, bits)
        at = fmpq(a.numerator, a.denominator)
        values = [(f(at), i) for i, f in enumerate(differences)]
        (least, i), (most, j) = min(values), max(values)
        if least > 0 or most < 0:
            exact = _open_from(low, factor, a, differences)
            return Opening(low, factor, sign * a, exact)
        changes = _sign_changes(differences[i] * differences[j])
        above = [(x, g) for x, g in changes if x > _ball(a)]
        known = [(g == factor and x.overlaps(low)) or bool(x < low) for x, g in changes]
        if sum(known) + len(above) < len(changes):
            # A cell so narrow that the step went over it.
            bits *= 2
            continue
        # Above the shift map's factor no difference changes its sign: there is a next one.
        low, factor = above[0]
        bits = FINE
    raise TimeoutError


def _differences(labels: tuple[int, ...], sign: int) -> list[fmpz_poly]:
    """States before a 1 less states before a 0, as polynomials in |a| up to a common factor
    and to powers of |a|: all have the factor a - 1, which is left out."""
    p, root, found = len(labels), fmpz_poly([-1, sign]), set()
    states = [fmpz_poly([sign**i * labels[t - 1 - i] for i in range(p)]) for t in range(p)]
    ones, zeros = ([t for t in range(p) if labels[t] == k] for k in (1, 0))
    for s, t in itertools.product(ones, zeros):
        coefficients = [int(c) for c in ((states[s] - states[t]) // root).coeffs()]
        found.add(tuple(itertools.dropwhile(lambda c: c == 0, coefficients)))
    return [fmpz_poly(list(coefficients)) for coefficients in sorted(found)]


def _sign_changes(f: fmpz_poly) -> list[tuple[arb, fmpz_poly]]:
    """Where, above zero, a polynomial changes its sign, each with the factor that vanishes."""
    factors = [g for g, order in f.factor()[1] if order % 2]
    with ctx.workprec(BITS):
        # The library makes the imaginary part of a real root exactly zero.
        found = [
            (z.real, g)
            for g in factors
            for z, _ in g.complex_roots()  # pyright: ignore[reportGeneralTypeIssues]
            if z.imag == 0 and z.real > 0
        ]
    found.sort(key=lambda pair: pair[0].mid())
    if any(not x < y for (x, _), (y, _) in itertools.pairwise(found)):
        raise TimeoutError
    return found


def _open_from(low: arb, factor: fmpz_poly, a: Fraction, differences: list[fmpz_poly]) -> bool:
    """Whether no difference vanishes between `low` and a: each is divided by the factor
    that vanishes at `low`, and what is left is enclosed over the whole short interval."""
    with ctx.workprec(BITS):
        ball = low.union(_ball(a))
        if factor.derivative()(ball).contains(0):
            return False
        for f in differences:
            while f % factor == 0:
                f = f // factor
            if f(ball).contains(0):
                return False
    return True


def _above(low: arb, bits: int) -> Fraction:
    mantissa, exponent = (int(x) for x in low.mid().man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent + Fraction(1, 1 << bits)


def _ball(a: Fraction) -> arb:
    with ctx.workprec(4 * BITS):
        return arb(a.numerator) / a.denominator
