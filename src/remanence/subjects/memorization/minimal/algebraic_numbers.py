r"""Real algebraic numbers above zero: the $i$-th root of an irreducible $f \in \mathbb{Z}[x]$.

Two of them are equal only if they are the same root of the same polynomial, so
balls of growing precision decide every comparison: nothing is left to a tolerance.
"""

import dataclasses
import functools
import math
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz_poly


@functools.total_ordering
@dataclasses.dataclass(frozen=True)
class Root:
    """The root `index` (from below, among all real ones) of an irreducible polynomial
    with these coefficients, the constant first."""

    polynomial: tuple[int, ...]
    index: int = 0

    def ball(self, bits: int = 64) -> arb:
        """An enclosure of at least that precision."""
        return _real_roots(self.polynomial, bits)[self.index]

    def compared(self, other: "Root | Fraction") -> int:
        """-1, 0 or 1 as this number is below, equal to or above another."""
        if isinstance(other, Fraction):
            other = rational(other)
        if self == other:
            return 0
        bits = 64
        while True:
            a, b = self.ball(bits), other.ball(bits)
            if a < b:
                return -1
            if a > b:
                return 1
            bits *= 2

    def __lt__(self, other: "Root | Fraction") -> bool:
        return self.compared(other) < 0

    def above(self, bits: int) -> Fraction:
        """The next multiple of $2^{-bits}$ above it."""
        at = bits + 64
        while True:
            low, high = (math.floor(end * (1 << bits)) for end in _ends(self.ball(at)))
            if low == high:
                return Fraction(low + 1, 1 << bits)
            if len(self.polynomial) == 2:
                exact = Fraction(-self.polynomial[0], self.polynomial[1])
                return Fraction(math.floor(exact * (1 << bits)) + 1, 1 << bits)
            at *= 2

    @property
    def enclosure(self) -> tuple[float, float]:
        """The nearest floats around it; the same one twice where it is a float."""
        if len(self.polynomial) == 2:
            exact = Fraction(-self.polynomial[0], self.polynomial[1])
            near = float(exact)
            if near == exact:
                return near, near
        mid = float(self.ball(128).mid())
        return math.nextafter(mid, -math.inf), math.nextafter(mid, math.inf)


def _ends(ball: arb) -> tuple[Fraction, Fraction]:
    """The ends of a ball as they are, without rounding."""
    parts = []
    for end in (ball.mid(), ball.rad()):
        mantissa, exponent = (int(x) for x in end.man_exp())
        parts.append(mantissa * Fraction(2) ** exponent)
    return parts[0] - parts[1], parts[0] + parts[1]


def rational(x: Fraction) -> Root:
    """A rational number among the roots."""
    return Root((-x.numerator, x.denominator))


ZERO = rational(Fraction(0))


@functools.lru_cache(maxsize=65536)
def _real_roots(coefficients: tuple[int, ...], bits: int) -> list[arb]:
    with ctx.workprec(bits):
        if len(coefficients) == 2:
            return [arb(-coefficients[0]) / coefficients[1]]
        # The library makes the imaginary part of a real root exactly zero.
        found = [
            z.real
            for z, _ in fmpz_poly(list(coefficients)).complex_roots()  # pyright: ignore[reportGeneralTypeIssues]
            if z.imag == 0
        ]
    return sorted(found, key=lambda x: float(x.mid()))


@functools.lru_cache(maxsize=65536)
def sign_changes(coefficients: tuple[int, ...]) -> tuple[Root, ...]:
    """Where, above zero, a polynomial changes its sign: its roots of odd order."""
    _, factors = fmpz_poly(list(coefficients)).factor()
    found = []
    for f, order in factors:
        if order % 2 == 0 or f.degree() < 1:
            continue
        key = tuple(int(c) for c in f.coeffs())
        if f.leading_coefficient() < 0:
            key = tuple(-c for c in key)
        found += [Root(key, i) for i, x in enumerate(_real_roots(key, 64)) if not x <= 0]
    return tuple(sorted(x for x in found if x > ZERO))


def value(f: fmpz_poly, x: Fraction) -> Fraction:
    """The polynomial at a rational, exactly."""
    y = f(fmpq(x.numerator, x.denominator))
    return Fraction(int(y.p), int(y.q))


def coefficients(f: fmpz_poly) -> tuple[int, ...]:
    """As a key, the constant first."""
    return tuple(int(c) for c in f.coeffs())
