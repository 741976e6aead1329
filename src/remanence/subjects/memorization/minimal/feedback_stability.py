r"""How stable can a memory be that reads itself? The fewest units at a given stability.

One unit, $h' = a h + c_x$, is decided exactly for two symbols; the shift map, $|a| = n$, serves every
word. Beyond one unit a delay line, or rotations where the circle is allowed, give upper bounds.

On a line an argmax divides into intervals, so the states before a 1 must lie on one side of those
before a 0. With $c_0 = 0$ and $c_1 = \pm 1$ the difference of two states is a polynomial in $|a|$, and
all differences must have the same sign. Two of opposite signs just above an algebraic number refute
every $|a|$ from there until their product changes its sign, at the next such number. Signs are those
of enclosures that do not hold zero, the factors that vanish divided out.
"""

import contextlib
import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq, fmpz_poly

from ..words import Word
from ..written import Labels, leads
from .cheapest_harmonics import Bounds, harmonic_dimension
from .separation import Deadline, separation


LONGEST = 100  # symbols of a word beyond which the roots of its polynomials take too long
BITS = 256
STEPS = (48, 96, 192)  # bits of the steps above the infimum at which an admissible a is sought


@dataclasses.dataclass(frozen=True, eq=False)
class Feedback(Bounds):
    """The fewest units at a given closed-loop stability, and the least |a| of one unit.

    `least` encloses the infimum of |a| over one-unit memories whose state returns with the word.
    The admissible a are an open set, so it serves only where it is zero and `attained`; `a` is
    an admissible value next to it.
    """

    word: Word
    lower: int
    upper: int
    least: tuple[float, float]
    a: Fraction
    polynomial: tuple[int, ...] = (0, 1)
    """Integer coefficients, the constant first: `least` encloses its root, where `exact`."""
    exact: bool = True  # whether `least` holds that root, not only the bounds of the shift map
    attained: bool = False


def least_feedback(w: Word, *, stability: float, time_limit: float) -> Feedback:
    """The smallest d whose closed loop stretches no distance by more than `stability`."""
    if not stability >= 0 or math.isinf(stability):
        raise ValueError(f"stability must be a finite factor ≥ 0, got {stability}")
    labels, deadline, n = w.pattern, Deadline(time_limit), len(w.used)
    if n == w.period:
        # Every symbol once: the last one tells the next, and nothing else is needed.
        units = min(n - 1, 1)
        return Feedback(w, units, units, (0.0, 0.0), Fraction(0), attained=True)
    # The shift map serves every word; of two symbols more is known.
    least, a, polynomial, exact = (0.0, float(n)), Fraction(n), (0, 1), False
    if n == 2 and w.period <= LONGEST:
        with contextlib.suppress(TimeoutError):
            search = Deadline(time_limit / 2)
            positive, negative = (_opening(labels, sign, search) for sign in (1, -1))
            low, factor, a = negative if negative[0] < positive[0] else positive
            exact, middle = True, float(low.mid())
            polynomial = tuple(int(c) for c in factor.coeffs())
            least = (math.nextafter(middle, -math.inf), math.nextafter(middle, math.inf))
            if factor(fmpq(*middle.as_integer_ratio())) == 0:
                least = (middle, middle)
    lower = 1 if least[0] < stability else 2
    if abs(a) <= Fraction(stability) or (exact and least[1] < stability):
        upper = 1
    else:
        upper = _delay_line(labels, deadline)
        if stability >= 1:
            upper = min(upper, harmonic_dimension(w, time_limit=deadline.left).upper)
    return Feedback(w, lower, upper, least, a, polynomial, exact)


def _delay_line(labels: Labels, deadline: Deadline) -> int:
    """How many of the last symbols tell the next one, by affine functions."""
    p, search = len(labels), Deadline(deadline.left / 2)
    for m in range(2, p):
        if search.late:
            break
        window = [np.roll(np.asarray(labels, float), i) for i in range(1, m + 1)]
        phi = np.vstack([np.ones(p), *window])
        u = separation(labels, phi, deadline=search).u
        # Labels are small integers, so these leads are far above rounding.
        if u is not None and leads(u @ phi, labels).min() > 1e-6 * np.abs(u).max():
            return m
    return p


def _opening(labels: Labels, sign: int, deadline: Deadline) -> tuple[arb, fmpz_poly, Fraction]:
    """The infimum of |a| for one sign of a, its factor, and an admissible a next to it."""
    differences = _differences(labels, sign)
    low, factor = arb(0), fmpz_poly([0, 1])
    while len(signs := {_sign_above(low, factor, f): f for f in differences}) > 1:
        deadline.check()
        changes = _sign_changes(signs[1] * signs[-1])
        if any(x.overlaps(low) for x, g in changes if g != factor):
            raise TimeoutError
        # Above the shift map's factor no difference changes its sign: there is a next one.
        low, factor = next((x, g) for x, g in changes if x > low)
    mantissa, exponent = (int(x) for x in low.mid().man_exp())
    for bits in STEPS:
        a = Fraction(mantissa) * Fraction(2) ** exponent + Fraction(1, 1 << bits)
        values = [f(fmpq(a.numerator, a.denominator)) for f in differences]
        if min(values) > 0 or max(values) < 0:
            return low, factor, sign * a
    raise TimeoutError


def _sign_above(low: arb, factor: fmpz_poly, f: fmpz_poly) -> int:
    """The sign of a polynomial just above a root of an irreducible factor; `TimeoutError`
    where the bits do not tell it."""
    sign = 1
    with ctx.workprec(BITS):
        while (value := f(low)).contains(0):
            # Just above the root the factor itself has the sign of its slope.
            slope = factor.derivative()(low)
            if f % factor != 0 or slope.contains(0):
                raise TimeoutError
            f, sign = f // factor, sign if slope > 0 else -sign
    return sign if value > 0 else -sign


def _differences(labels: Labels, sign: int) -> list[fmpz_poly]:
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
