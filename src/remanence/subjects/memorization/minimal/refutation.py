r"""Proofs that a set of harmonics cannot tell a word's symbols apart.

A refutation of $S$ is a set of pairs $(t, k)$, $k \ne w_t$, with multipliers
$\lambda > 0$ such that $\sum \lambda_{t,k}(e_{w_t} - e_k)\,\zeta^{jt} = 0$ for
$j \in \{0\} \cup S$. The coefficients are irrational, so it is proved in one of
three ways: integer multipliers by divisibility by cyclotomic polynomials; else by
an interval solve on the support, every enclosure positive; and where the support
spans fewer rows than there are equations, the equations left over are minors in
$\mathbb{Z}[\zeta_p]$, which vanish because the product of their conjugates is an
integer below one: the minor itself is enclosed, the others bounded by Hadamard.
"""

import dataclasses
import math

import numpy as np
from flint import arb, ctx, fmpz_poly
from scipy.linalg import qr

from ..harmonics import circle, cyclotomic, Frequencies, PRECISION, table, units
from .deadline import Deadline, NEVER
from .interval_solve import solved


Pairs = tuple[tuple[int, int], ...]
MANY = 200
"""Unknowns beyond which a few dozen bits are not enough."""
Row = tuple[int, int, bool]
"""A block (symbol), a frequency, and whether it is its sine."""


@dataclasses.dataclass(frozen=True)
class Refutation:
    """No readout over these frequencies spells the word.

    `multipliers` are the integers themselves (`how` is "exact"), or the centres
    of the enclosures, whose smallest lower end is `least` > 0.
    """

    frequencies: Frequencies
    pairs: Pairs
    multipliers: tuple[float | int, ...]
    least: float
    how: str


def refutation(
    labels: tuple[int, ...],
    frequencies: Frequencies,
    pairs: Pairs,
    multipliers: tuple[float | int, ...],
    deadline: Deadline = NEVER,
) -> Refutation | None:
    """The proof that floating-point multipliers suggest, or None if it fails or is late."""
    if not pairs:
        return None
    whole = _integers(multipliers)
    if whole is not None and vanishes(labels, frequencies, pairs, whole):
        return Refutation(frequencies, pairs, whole, float(min(whole)), "exact")
    try:
        found, how = _solved(labels, frequencies, pairs, deadline)
        if found is None:
            pairs = _basic(labels, frequencies, pairs, multipliers, deadline)
            found, how = _solved(labels, frequencies, pairs, deadline)
    except TimeoutError:
        return None
    if found is None or not all(ball > 0 for ball in found):
        return None
    ends = [float(ball.lower()) for ball in found]
    centres = tuple(float(ball.mid()) for ball in found)
    return Refutation(frequencies, pairs, (1.0, *centres), min(1.0, *ends), how)


def vanishes(
    labels: tuple[int, ...], frequencies: Frequencies, pairs: Pairs, multipliers: tuple[int, ...]
) -> bool:
    """Whether integer multipliers annul every equation, in exact arithmetic."""
    period = len(labels)
    orders = {period // int(np.gcd(j, period)) for j in frequencies} | {1}
    for block in range(max(labels) + 1):
        terms = [0] * period
        for (t, k), m in zip(pairs, multipliers, strict=True):
            terms[t] += m * ((labels[t] == block) - (k == block))
        signed = fmpz_poly(terms)
        if any(signed % cyclotomic(q) != 0 for q in orders):
            return False
    return True


def _integers(multipliers: tuple[float | int, ...]) -> tuple[int, ...] | None:
    scaled = np.asarray(multipliers) / min(multipliers)
    for factor in (1, 2, 3):
        near = np.rint(factor * scaled)
        if near.max() <= 60 and np.abs(near - factor * scaled).max() < 1e-6:
            return tuple(int(m) for m in near)
    return None


def _rows(labels: tuple[int, ...], frequencies: Frequencies, pairs: Pairs) -> list[Row]:
    """The equations, without those that follow from the others: symbols that no pair
    names have zero rows, and the rows of the first named are minus the others' sum."""
    period = len(labels)
    named = sorted({labels[t] for t, _ in pairs} | {k for _, k in pairs})
    return [
        (block, j, odd)
        for block in named[1:]
        for j in (0, *frequencies)
        for odd in ((False,) if 2 * j % period == 0 else (False, True))
    ]


def _basic(
    labels: tuple[int, ...],
    frequencies: Frequencies,
    pairs: Pairs,
    multipliers: tuple[float | int, ...],
    deadline: Deadline,
) -> Pairs:
    """A support no larger than Carathéodory allows: while there is a second
    solution, walk along it until a multiplier vanishes."""
    lam = np.asarray(multipliers)
    while True:
        deadline.check()
        A = _numeric(labels, pairs, _rows(labels, frequencies, pairs))
        _, values, V = np.linalg.svd(A)
        if (values > 1e-9).sum() >= len(pairs) - 1:
            return pairs
        # The two last rows of V span solutions; one mixture is not the present one.
        v = V[-1] - (V[-1] @ lam) / (lam @ lam) * lam
        if np.abs(v).max() < 1e-6:
            v = V[-2]
        v = v if (v > 0).any() else -v
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(v > 1e-12, lam / v, np.inf)
        lam = lam - step.min() * v
        lam[step.argmin()] = 0.0
        keep = lam > 1e-10 * lam.max()
        if keep.all() or not keep.any():
            return pairs
        pairs = tuple(pair for pair, on in zip(pairs, keep, strict=True) if on)
        lam = lam[keep]


def _solved(
    labels: tuple[int, ...], frequencies: Frequencies, pairs: Pairs, deadline: Deadline
) -> tuple[list[arb] | None, str]:
    """The multipliers after the first, which is one, as enclosures.

    Rows are $2\\cos$ and $2\\sin$, so that minors are algebraic integers up to a power
    of i.
    """
    period, unknown = len(labels), len(pairs) - 1
    rows = _rows(labels, frequencies, pairs)
    kept, spare, bits, need = rows, [], PRECISION, 0.0
    if unknown > MANY:  # elimination loses some bits with each
        bits = 64 * math.ceil(10 * unknown / 64)
    if len(rows) > unknown:
        kept, spare = _independent(labels, pairs, rows)
        size = [0.5 * k * math.log2(4 * max(k, 1)) for k in (unknown, len(pairs))]
        # Hadamard's bound on the minor at hand, and on every other conjugate.
        need = size[0] + (max(len(units(period)) // 2, 1) - 1) * size[1]
        bits = 64 * math.ceil((need + 2 * PRECISION) / 64)
    if len(kept) != unknown:
        return None, ""
    with ctx.workprec(bits):
        deadline.check()
        M = [_row(labels, pairs, row, bits) for row in kept]
        try:
            found = solved([r[1:] for r in M], [-r[0] for r in M], bits, deadline)
        except ZeroDivisionError:
            return None, ""
        for row in spare:
            deadline.check()
            left = _row(labels, pairs, row, bits)
            rest = sum((a * b for a, b in zip(left[1:], found, strict=True)), left[0])
            if not abs(rest) < arb(2) ** -math.ceil(need):
                return None, ""
    return found, "norm" if spare else "enclosed"


def _row(labels: tuple[int, ...], pairs: Pairs, row: Row, bits: int) -> list[arb]:
    block, j, odd = row
    period = len(labels)
    wave = circle(period, bits)[1 if odd else 0]
    single = 2 * j % period == 0
    return [
        wave[j * t % period] * (s if single else 2 * s)
        for t, s in ((t, (labels[t] == block) - (k == block)) for t, k in pairs)
    ]


def _independent(
    labels: tuple[int, ...], pairs: Pairs, rows: list[Row]
) -> tuple[list[Row], list[Row]]:
    """As many well-conditioned rows as there are unknowns, and the rest."""
    _, order = qr(_numeric(labels, pairs, rows).T, mode="r", pivoting=True)  # pyright: ignore[reportAssignmentType]
    chosen = set(order[: len(pairs) - 1].tolist())
    kept = [row for i, row in enumerate(rows) if i in chosen]
    return kept, [row for i, row in enumerate(rows) if i not in chosen]


def _numeric(labels: tuple[int, ...], pairs: Pairs, rows: list[Row]) -> np.ndarray:
    period = len(labels)
    cos, sin = table(period)
    t, k = np.array(pairs).T
    w = np.asarray(labels)[t]
    return np.array(
        [((w == b) * 1.0 - (k == b)) * (sin if odd else cos)[j * t % period] for b, j, odd in rows]
    )
