r"""How stable can a memory be that hears itself? The fewest units at a given stability.

One unit, $h' = a h + c_x$, is decided exactly (`one_unit`). Beyond it the closed
loop may turn in planes, fade, or be a delay line, which forgets everything after
as many steps as it has units: those give upper bounds.
"""

import dataclasses
import math
from fractions import Fraction

import numpy as np

from ..words import Word
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
    labels = w.pattern
    if len(labels) == 1:
        one = Fraction(0), (Fraction(0),), (0,), (0, 1)
        return Feedback(w, stability, 0, 0, (0.0, 0.0), *one, True, True)
    deadline = Deadline(time_limit)
    found = least_of_one_unit(labels, time_limit / 2)
    low, high = found.interval
    one = found.a, found.weights, found.order, found.low.polynomial
    record = (low, high), *one, found.exact, found.attained
    if found.attained or high < stability or abs(found.a) <= Fraction(stability):
        return Feedback(w, stability, 1, 1, *record)
    # The infimum is not attained, so at it one unit does not do.
    lower = 2 if not found.low < Fraction(stability) else 1
    return Feedback(w, stability, lower, _wider(w, labels, stability, deadline), *record)


def _wider(w: Word, labels: tuple[int, ...], stability: float, deadline: Deadline) -> int:
    """An upper bound beyond one unit: two units by a scan of eigenvalues (two symbols),
    a delay line at any stability, harmonics where the circle is allowed."""
    p = len(labels)
    if max(labels) == 1 and _two_units(labels, stability, deadline):
        return 2
    best, search = p, Deadline(deadline.left / 2)
    for m in range(2, p):
        if search.late:
            break
        window = [np.roll(np.asarray(labels, float), i) for i in range(1, m + 1)]
        phi = np.vstack([np.ones(p), *window])
        u = separation(labels, phi, deadline=search).u
        # Labels are small integers, so these leads are far above rounding.
        if u is not None and _lead(u, labels, phi) > 1e-6 * np.abs(u).max():
            best = m
            break
    if stability >= 1:
        best = min(best, harmonic_dimension(w, time_limit=deadline.left).upper)
    return best


def _two_units(labels: tuple[int, ...], stability: float, deadline: Deadline) -> bool:
    p, w = len(labels), np.asarray(labels, float)
    heard = np.fft.fft(np.roll(w, 1))
    for r in np.linspace(0.2, 1.0, 9) * min(stability, 2.0):
        for angle in np.pi * np.arange(1, 24) / 24:
            mu = r * np.exp(1j * angle)
            if deadline.late:
                return False
            with np.errstate(over="ignore", invalid="ignore"):
                powers, rest = mu ** np.arange(p), 1 - mu**p
            if abs(rest) < 1e-3 or not np.isfinite(rest):
                # Next to a resonance the states are too large for their rounding.
                continue
            z = np.fft.ifft(np.fft.fft(powers) * heard) / rest
            phi = np.stack([np.ones(p), z.real, z.imag])
            u = separation(labels, phi, deadline=deadline).u
            if u is not None and _lead(u, labels, phi) > 1e-6 * np.abs(u * np.abs(phi).max()).max():
                return True
    return False


def _lead(u: np.ndarray, labels: tuple[int, ...], phi: np.ndarray) -> float:
    y, t, w = u @ phi, np.arange(len(labels)), np.asarray(labels)
    right = y[w, t].copy()
    y[w, t] = -np.inf
    return float((right - y.max(axis=0)).min())
