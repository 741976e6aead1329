r"""How stable can a memory be that hears itself? The fewest units at a given stability.

One unit, $h' = a h + c_x$, is decided exactly for two symbols (`one_unit`); the shift
map, $|a| = n$, serves every word. Beyond one unit the closed loop may be a delay line,
which forgets everything after as many steps as it has units, or turn in planes where
the circle is allowed: those give upper bounds.
"""

import contextlib
import dataclasses
import math
from fractions import Fraction

import numpy as np

from ..words import Word
from ..written import leads
from .deadline import Deadline
from .minimal_dimension import harmonic_dimension
from .one_unit import least_opening
from .separation import separation


LONGEST = 100
"""Symbols of a word beyond which the roots of its polynomials take too long."""


@dataclasses.dataclass(frozen=True, eq=False)
class Feedback:
    """The fewest units at a given closed-loop stability, and the least |a| of one unit.

    `least` encloses the infimum of |a| over one-unit memories whose state returns
    with the word. The admissible a are an open set, so the infimum itself serves
    only where it is zero and `attained`. `a` is an admissible value next to it.
    """

    word: Word
    stability: float
    lower: int
    upper: int
    least: tuple[float, float]
    a: Fraction
    polynomial: tuple[int, ...] = (0, 1)
    """Integer coefficients, the constant first: `least` encloses its root, where `exact`."""
    exact: bool = True
    """Whether `least` holds that root and nothing else is in question."""
    attained: bool = False

    @property
    def dimension(self) -> int:
        return self.upper

    @property
    def optimal(self) -> bool:
        return self.lower == self.upper


def least_feedback(w: Word, *, stability: float, time_limit: float) -> Feedback:
    """The smallest d whose closed loop stretches no distance by more than `stability`."""
    if not stability >= 0 or math.isinf(stability):
        raise ValueError(f"stability must be a finite factor ≥ 0, got {stability}")
    labels, deadline, n = w.pattern, Deadline(time_limit), len(w.used)
    if n == w.period:
        # Every symbol once: the last one tells the next, and nothing else is needed.
        units = min(n - 1, 1)
        return Feedback(w, stability, units, units, (0.0, 0.0), Fraction(0), attained=True)
    # The shift map serves every word; of two symbols more is known.
    least, a, polynomial, exact = (0.0, float(n)), Fraction(n), (0, 1), False
    if n == 2 and w.period <= LONGEST:
        with contextlib.suppress(TimeoutError):
            found = least_opening(labels, Deadline(time_limit / 2))
            least, a, exact = found.interval, found.a, found.exact
            polynomial = tuple(int(c) for c in found.factor.coeffs())
    lower = 1 if least[0] < stability else 2
    if abs(a) <= Fraction(stability) or (exact and least[1] < stability):
        upper = 1
    else:
        upper = _delay_line(labels, deadline)
        if stability >= 1:
            upper = min(upper, harmonic_dimension(w, time_limit=deadline.left).upper)
    return Feedback(w, stability, lower, upper, least, a, polynomial, exact)


def _delay_line(labels: tuple[int, ...], deadline: Deadline) -> int:
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
