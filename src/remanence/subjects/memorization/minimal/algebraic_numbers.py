r"""Real algebraic numbers above zero: the $i$-th root of an irreducible $f \in \mathbb{Z}[x]$.

Two of them are equal only if they are the same root of the same polynomial, so
balls of growing precision decide every comparison: nothing is left to a tolerance.
"""

import dataclasses
import functools
import itertools
import math
from fractions import Fraction

from flint import arb, ctx, fmpz_poly


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

    def __lt__(self, other: "Root | Fraction") -> bool:
        other = rational(other) if isinstance(other, Fraction) else other
        if self == other:
            return False
        for bits in (64 << i for i in itertools.count()):
            a, b = self.ball(bits), other.ball(bits)
            if not a.overlaps(b):
                return a < b
        raise AssertionError

    def above(self, bits: int) -> Fraction:
        """The next multiple of $2^{-bits}$ above it."""
        mantissa, exponent = (int(x) for x in self.ball(bits + 64).mid().man_exp())
        step = Fraction(math.floor(mantissa * Fraction(2) ** (exponent + bits)), 1 << bits)
        while not self < step:
            step += Fraction(1, 1 << bits)
        return step

    @property
    def enclosure(self) -> tuple[float, float]:
        """The nearest floats around it; the same one twice where it is a float."""
        mid = float(self.ball(128).mid())
        if self == rational(Fraction(mid)):
            return mid, mid
        return math.nextafter(mid, -math.inf), math.nextafter(mid, math.inf)


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
def sign_changes(polynomial: tuple[int, ...]) -> tuple[Root, ...]:
    """Where, above zero, a polynomial changes its sign: its roots of odd order."""
    found = []
    for f, order in fmpz_poly(list(polynomial)).factor()[1]:
        if order % 2 and f.degree() > 0:
            key = tuple(int(c) for c in (f if f.leading_coefficient() > 0 else -f).coeffs())
            found += [Root(key, i) for i, x in enumerate(_real_roots(key, 64)) if not x <= 0]
    return tuple(sorted(x for x in found if x > ZERO))
