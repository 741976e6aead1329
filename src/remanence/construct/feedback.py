r"""How stable can a memory be that hears itself? $h' = a h + c_x$, the least $|a|$.

On the periodic orbit $h_t = \sum_i a^{i-1} c_{w_{t-i}} / (1 - a^p)$, and on a line
an argmax of affine functions is a division into intervals, in any order of the
symbols. For two symbols the states are ordered by polynomials in $a$ alone, so the
admissible $a$ are the gaps between their real roots, and the least $|a|$ is an
algebraic number, enclosed. For more, each order of the symbols is a linear
program in $c$ for each $a$; boxes of $a$ are refuted whole by multipliers that stay
positive over the box.
"""

import dataclasses
import itertools
import math
import time
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpz_poly
from scipy.optimize import nnls

from ..tasks.words import Word
from .minimal_dimension import harmonic_dimension
from .separation import separation


RESOLUTION = 1e-4
"""To this width the least |a| is enclosed where it has no closed form."""


@dataclasses.dataclass(frozen=True, eq=False)
class Feedback:
    """The fewest units at a given closed-loop stability, and the least |a| of one unit.

    `least` encloses the infimum of |a| over one-unit memories of the word; it is
    attained only where it is zero. `a` is an admissible rational value near it.
    """

    word: Word
    stability: float
    lower: int
    upper: int
    least: tuple[float, float]
    a: Fraction | None
    exact: bool
    """Whether `least` encloses a root of a known polynomial, rather than a search."""

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
    n = max(labels) + 1
    if n == 1:
        return Feedback(w, stability, 0, 0, (0.0, 0.0), Fraction(0), True)
    if n == 2:
        low, high, a = _binary(labels)
    else:
        low, high, a = _several(labels, time.monotonic() + time_limit)
    if high < stability or high == 0:
        return Feedback(w, stability, 1, 1, (low, high), a, n == 2)
    lower = 2 if stability <= low else 1
    upper = _wider(w, labels, stability, time_limit)
    return Feedback(w, stability, lower, upper, (low, high), a, n == 2)


def _differences(labels: tuple[int, ...], symbol: int) -> list[list[fmpz_poly]]:
    r"""For each s and t: $\sum_i a^{i-1} ([w_{s-i} = k] - [w_{t-i} = k])$, divided by
    its factor $a - 1$ (a period holds as many k from s as from t)."""
    p = len(labels)
    past = [
        [int(labels[(t - i) % p] == symbol) for i in range(1, p + 1)] for t in range(p)
    ]
    root = fmpz_poly([-1, 1])
    rows = []
    for s in range(p):
        rows.append([])
        for t in range(p):
            apart = fmpz_poly([x - y for x, y in zip(past[s], past[t], strict=True)])
            rows[-1].append(apart // root)
    return rows


def _binary(labels: tuple[int, ...]) -> tuple[float, float, Fraction]:
    """Exactly: roots of all differences, and a sign test between neighbours."""
    table = _differences(labels, 1)
    p = len(labels)
    polynomials = {
        tuple(int(c) for c in table[s][t].coeffs())
        for s in range(p)
        for t in range(p)
        if labels[s] == 1 and labels[t] == 0
    }
    if () in polynomials:
        raise AssertionError("two states of different symbols have the same past")
    found = [fmpz_poly(list(c)) for c in polynomials]
    with ctx.workprec(128):
        roots = [
            z.real
            for f in found
            if f.degree() > 0
            for z, _ in f.complex_roots()  # pyright: ignore[reportGeneralTypeIssues]
            if z.imag.contains(0) and abs(float(z.imag.mid())) < 1e-20
        ]
    ends = sorted({(float(r.mid()), float(r.rad())) for r in roots})
    edges = [-2.5, *(x for x, _ in ends), 2.5]
    best: tuple[float, float, Fraction] | None = None
    for left, right in itertools.pairwise(edges):
        if right - left < 1e-14:
            continue
        middle = Fraction((left + right) / 2)
        signs = {_sign(f, middle) for f in found}
        if len(signs) != 1 or 0 in signs:
            continue
        inside = left < 0 < right
        near = 0.0 if inside else min(abs(left), abs(right))
        if best is None or near < best[1]:
            # A rational edge is known exactly; an irrational one is enclosed.
            plain = Fraction(near).limit_denominator(1000)
            edge = plain if abs(left) < abs(right) and left >= 0 else -plain
            rational = any(_sign(f, edge) == 0 for f in found)
            near = float(plain) if rational else near
            slack = 0.0 if inside or rational else 1e-12
            best = (
                max(near - slack, 0.0),
                near + slack,
                Fraction(0) if inside else middle,
            )
    if best is None:
        raise AssertionError("a = 2 spells every binary word")
    return best


def _sign(f: fmpz_poly, a: Fraction) -> int:
    value = f(fmpq(a.numerator, a.denominator))
    return (value > 0) - (value < 0)


def _several(
    labels: tuple[int, ...], deadline: float
) -> tuple[float, float, Fraction | None]:
    """For three symbols and more: every order, boxes of a refuted or met."""
    n = max(labels) + 1
    tables = [_differences(labels, k) for k in range(1, n)]
    numeric = [
        [
            [np.array([float(c) for c in f.coeffs()][::-1] or [0.0]) for f in row]
            for row in t
        ]
        for t in tables
    ]
    orders = [o for o in itertools.permutations(range(n)) if o[0] < o[-1]]
    reach, hit = float(n), None
    pairs = {o: _neighbours(labels, o) for o in orders}
    # Feasible side: scan outwards, then bisect; each hit is checked in rationals.
    for size in np.linspace(0, n, 40 * n + 1):
        hit = next(
            (
                (sign * size, o)
                for o in orders
                for sign in (1.0, -1.0)
                if _meets(numeric, pairs[o], sign * size) is not None
            ),
            None,
        )
        if hit is not None or time.monotonic() > deadline:
            break
    if hit is None:
        return 0.0, reach, Fraction(n)
    at, order = hit
    low, high = max(abs(at) - 1 / 40, 0.0), abs(at)
    while high - low > RESOLUTION / 4 and high > 0:
        middle = (low + high) / 2
        met = _meets(numeric, pairs[order], math.copysign(middle, at)) is not None
        low, high = (low, middle) if met else (middle, high)
    found = Fraction(math.copysign(high, at))
    if not _checked(tables, pairs[order], found, numeric):
        return 0.0, reach, Fraction(n)
    floor = min(
        (_refuted_below(tables, pairs[o], high, deadline) for o in orders),
        default=0.0,
    )
    return float(floor), float(high), found


def _neighbours(
    labels: tuple[int, ...], order: tuple[int, ...]
) -> list[tuple[int, int]]:
    """(s, t) such that the state at s must lie above that at t."""
    p = len(labels)
    return [
        (s, t)
        for low, high in itertools.pairwise(order)
        for s in range(p)
        for t in range(p)
        if labels[s] == high and labels[t] == low
    ]


def _meets(numeric, pairs, a: float) -> np.ndarray | None:
    """Input weights c_1 … c_{n-1} (c_0 = 0) that order the states, if there are any."""
    A = np.array([[np.polyval(t[s][u], a) for s, u in pairs] for t in numeric])
    scale = np.abs(A).max(axis=0)
    if (scale < 1e-12).any():
        return None
    B = np.vstack([A / scale, np.ones(len(pairs))])
    goal = np.zeros(len(B))
    goal[-1] = 1.0
    lam, residual = nnls(B, goal)
    return None if residual < 1e-7 else (A / scale) @ lam / residual**2


def _checked(tables, pairs, a: Fraction, numeric) -> bool:
    c = _meets(numeric, pairs, float(a))
    if c is None:
        return False
    at, weights = fmpq(a.numerator, a.denominator), [Fraction(float(x)) for x in c]
    whole = [fmpq(x.numerator, x.denominator) for x in weights]
    return all(
        sum((x * t[s][u](at) for x, t in zip(whole, tables, strict=True)), fmpq(0)) > 0
        for s, u in pairs
    )


def _refuted_below(tables, pairs, top: float, deadline: float) -> float:
    """No a with 0 < |a| below the returned value meets this order: box by box."""
    sides = {sign: _lowered(tables, pairs, sign) for sign in (-1, 1)}
    floor, boxes = top, [(-1, 0.0, top), (1, 0.0, top)]
    while boxes:
        sign, left, right = boxes.pop()
        if left >= floor:
            continue
        if time.monotonic() > deadline:
            return min([floor, left, *(box[1] for box in boxes)])
        if _box_refuted(sides[sign], sign, left, right):
            continue
        if right - left < RESOLUTION:
            floor = min(floor, left)
            continue
        middle = (left + right) / 2
        boxes += [(sign, middle, right), (sign, left, middle)]
    return floor


def _lowered(tables, pairs, sign: int) -> list[list[fmpz_poly]]:
    """The vectors that must point up, without their common power of a: it is positive,
    or turns the vector round where a < 0 and the power is odd."""
    found = []
    for s, t in pairs:
        entries = [[int(c) for c in table[s][t].coeffs()] for table in tables]
        power = min(
            (next(i for i, c in enumerate(e) if c) for e in entries if any(e)),
            default=0,
        )
        found.append([fmpz_poly([sign**power * c for c in e[power:]]) for e in entries])
    return found


def _box_refuted(vectors, sign: int, left: float, right: float) -> bool:
    middle = sign * (left + right) / 2
    at = fmpq(*Fraction(middle).as_integer_ratio())
    A = np.array([[float(f(at).p) / float(f(at).q) for f in v] for v in vectors]).T
    B = np.vstack([A, np.ones(A.shape[1])])
    goal = np.zeros(len(B))
    goal[-1] = 1.0
    lam, residual = nnls(B, goal)
    if residual > 1e-7:
        return False
    on = np.flatnonzero(lam > 1e-9)
    if len(on) <= len(A):
        # Fewer multipliers than rows: an identity between polynomials, if anything.
        whole = np.rint(lam[on] / lam[on].min()).astype(int).tolist()
        return all(
            sum(
                (m * vectors[i][r] for m, i in zip(whole, on, strict=True)),
                fmpz_poly([]),
            )
            == 0
            for r in range(len(A))
        )
    ball = arb(middle, (right - left) / 2 * 1.0001)
    M = [[vectors[i][r](ball) for i in on] for r in range(len(A))]
    try:
        solved = arb_mat([row[1:] for row in M]).solve(
            arb_mat([[-row[0]] for row in M])
        )
    except ZeroDivisionError:
        return False
    return all(solved[i, 0] > 0 for i in range(solved.nrows()))


def _wider(
    w: Word, labels: tuple[int, ...], stability: float, time_limit: float
) -> int:
    """An upper bound beyond one unit: two units by a scan of eigenvalues (two symbols),
    a delay line at any stability, harmonics where the circle is allowed."""
    p = len(labels)
    if max(labels) == 1 and _two_units(labels, stability):
        return 2
    best = p
    for m in range(2, p):
        window = [np.roll(np.asarray(labels, float), i) for i in range(1, m + 1)]
        phi = np.vstack([np.ones(p), *window])
        u = separation(labels, phi).u
        # Labels are small integers, so these leads are far above rounding.
        if u is not None and _lead(u, labels, phi) > 1e-6 * np.abs(u).max():
            best = m
            break
    if stability >= 1:
        best = min(best, harmonic_dimension(w, time_limit=time_limit).upper)
    return best


def _two_units(labels: tuple[int, ...], stability: float) -> bool:
    p, w = len(labels), np.asarray(labels, float)
    past = np.stack([np.roll(w, i) for i in range(1, p + 1)])
    for r in np.linspace(0.2, 1.0, 9) * min(stability, 2.0):
        for angle in np.pi * np.arange(1, 24) / 24:
            mu = r * np.exp(1j * angle)
            z = (mu ** np.arange(p)) @ past / (1 - mu**p)
            phi = np.stack([np.ones(p), z.real, z.imag])
            u = separation(labels, phi).u
            if (
                u is not None
                and _lead(u, labels, phi) > 1e-6 * np.abs(u * np.abs(phi).max()).max()
            ):
                return True
    return False


def _lead(u: np.ndarray, labels: tuple[int, ...], phi: np.ndarray) -> float:
    y, t, w = u @ phi, np.arange(len(labels)), np.asarray(labels)
    right = y[w, t].copy()
    y[w, t] = -np.inf
    return float((right - y.max(axis=0)).min())
