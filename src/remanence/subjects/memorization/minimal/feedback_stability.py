r"""How stable can a memory be that hears itself? The fewest units at a given stability.

One unit, $h' = a h + c_x$, is decided exactly (`one_unit`). Beyond it the closed
loop may be a delay line, which forgets everything after as many steps as it has
units, or turn in planes where the circle is allowed: those give upper bounds.
"""

import dataclasses
import math
from fractions import Fraction

import numpy as np

from ..words import Word
from ..written import leads
from .deadline import Deadline
from .minimal_dimension import harmonic_dimension
from .one_unit import least_of_one_unit
from .separation import separation


@dataclasses.dataclass(frozen=True, eq=False)
class Feedback:
    """The fewest units at a given closed-loop stability, and the least |a| of one unit.

    `least` encloses the infimum of |a| over one-unit memories whose state returns
    with the word. The admissible a are an open set, so the infimum itself serves
    only where it is zero and `attained`. `a` is an admissible value next to it,
    with one input weight a symbol of `word.used`, and `order` the order of these
    symbols along the line.
    """

    word: Word
    stability: float
    lower: int
    upper: int
    least: tuple[float, float]
    a: Fraction
    weights: tuple[Fraction, ...]
    order: tuple[int, ...]
    polynomial: tuple[int, ...]
    """Integer coefficients, the constant first: `least[0]` is bounded by its root."""
    exact: bool
    """Whether `least` holds that root and nothing else is in question."""
    attained: bool

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
    labels, deadline = w.pattern, Deadline(time_limit)
    if len(labels) == 1:
        one = Fraction(0), (Fraction(0),), (0,), (0, 1)
        return Feedback(w, stability, 0, 0, (0.0, 0.0), *one, True, True)
    found = least_of_one_unit(labels, time_limit / 2)
    one = found.a, found.weights, found.order, found.low.polynomial
    record = found.interval, *one, found.exact, found.attained
    if found.attained or found.interval[1] < stability or abs(found.a) <= Fraction(stability):
        return Feedback(w, stability, 1, 1, *record)
    # The infimum is not attained, so at it one unit does not do.
    lower, upper = 1 if found.low < Fraction(stability) else 2, _delay_line(labels, deadline)
    if stability >= 1:
        upper = min(upper, harmonic_dimension(w, time_limit=deadline.left).upper)
    return Feedback(w, stability, lower, upper, *record)


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
