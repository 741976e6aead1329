r"""Proofs that a set of harmonics cannot tell a word's symbols apart.

A refutation of $S$ is a set of pairs $(t, k)$, $k \ne w_t$, with multipliers $\lambda > 0$ such that
$\sum \lambda_{t,k}(e_{w_t} - e_k)\,\zeta^{jt} = 0$ for $j \in \{0\} \cup S$. It is proved by an interval
solve on the support, every enclosure positive; equations left over are minors in
$\mathbb{Z}[\zeta_p]$, which vanish because the product of their conjugates is an integer below one:
the minor itself is enclosed, the others bounded by Hadamard (docs/science/memorization.md).
"""

import dataclasses
import math
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx
from scipy.linalg import get_lapack_funcs

from ..harmonics import circle, features, Frequencies, PRECISION, totient
from ..written import Labels
from .separation import Deadline, NEVER


Pairs = tuple[tuple[int, int], ...]
Row = tuple[int, int, bool]  # a block (symbol), a frequency, and whether it is its sine
# LAPACK's own: `scipy.linalg.qr` takes four times as long for a few rows.
pivoted_qr: Any = get_lapack_funcs("geqp3")
MANY = 200  # unknowns beyond which a few dozen bits are not enough
PACE = 1e-10  # seconds of an interval solve for each cubed unknown and bit, roughly


@dataclasses.dataclass(frozen=True)
class Refutation:
    """No readout over these frequencies spells the word; `multipliers` are the centres of their
    enclosures, whose smallest lower end is `least` > 0."""

    frequencies: Frequencies
    pairs: Pairs
    multipliers: tuple[float, ...]
    least: float


def refutation(
    labels: Labels, frequencies: Frequencies, pairs: Pairs, deadline: Deadline = NEVER
) -> Refutation | None:
    """The proof with positive multipliers on these pairs, or None if it fails or is late."""
    if len(pairs) < 2:
        return None
    try:
        found = _enclosures(labels, frequencies, pairs, deadline)
    except (TimeoutError, ZeroDivisionError):
        return None
    if found is None or not all(ball > 0 for ball in found):
        return None
    ends = [float(ball.lower()) for ball in found]
    centres = tuple(float(ball.mid()) for ball in found)
    return Refutation(frequencies, pairs, (1.0, *centres), min(1.0, *ends))


def _enclosures(
    labels: Labels, frequencies: Frequencies, pairs: Pairs, deadline: Deadline
) -> list[arb] | None:
    """The multipliers after the first, which is one, as enclosures; rows are $2\\cos$ and
    $2\\sin$, so that minors are algebraic integers up to a power of i."""
    period, unknown = len(labels), len(pairs) - 1
    # Symbols that no pair names have zero rows; the first named is minus the others' sum.
    named = sorted({labels[t] for t, _ in pairs} | {k for _, k in pairs})
    kept: list[Row] = [
        (block, j, odd)
        for block in named[1:]
        for j in (0, *frequencies)
        for odd in ((False,) if 2 * j % period == 0 else (False, True))
    ]
    spare, bits, need = [], PRECISION, 0.0
    if unknown > MANY:  # elimination loses some bits with each
        bits = 64 * math.ceil(10 * unknown / 64)
    if len(kept) > unknown:
        kept, spare = _independent(labels, frequencies, pairs, kept)
        size = [0.5 * k * math.log2(4 * max(k, 1)) for k in (unknown, len(pairs))]
        # Hadamard's bound on the minor at hand, and on every other conjugate.
        need = size[0] + (max(totient(period) // 2, 1) - 1) * size[1]
        bits = 64 * math.ceil((need + 2 * PRECISION) / 64)
    # The solver cannot be stopped, so it is not begun where it may be late.
    if len(kept) != unknown or not deadline.affords(PACE * unknown**3 * bits):
        return None
    with ctx.workprec(bits):
        M = [_row(labels, pairs, row, bits) for row in kept]
        solved = arb_mat([r[1:] for r in M]).solve(arb_mat([[-r[0]] for r in M]))
        if spare:
            deadline.check()
            M = [_row(labels, pairs, row, bits) for row in spare]
            rest = arb_mat([r[1:] for r in M]) * solved + arb_mat([r[:1] for r in M])
            if not all(abs(ball) < arb(2) ** -math.ceil(need) for ball in rest.entries()):
                return None
        return solved.entries()


def _row(labels: Labels, pairs: Pairs, row: Row, bits: int) -> list[arb]:
    (block, j, odd), period = row, len(labels)
    wave = circle(period, bits)[1 if odd else 0]
    scale = 1 if 2 * j % period == 0 else 2
    return [
        wave[j * t % period] * (scale * ((labels[t] == block) - (k == block))) for t, k in pairs
    ]


def _independent(
    labels: Labels, frequencies: Frequencies, pairs: Pairs, rows: list[Row]
) -> tuple[list[Row], list[Row]]:
    """As many well-conditioned rows as there are unknowns, and the rest."""
    (t, k), blocks = np.array(pairs).T, np.array(sorted({block for block, _, _ in rows}))[:, None]
    signs = (np.asarray(labels)[t] == blocks) * 1.0 - (k == blocks)
    numbers = (signs[:, None] * features(len(labels), frequencies)[:, t]).reshape(len(rows), -1)
    _, order, *_ = pivoted_qr(numbers.T)  # pivots are counted from one
    chosen = set((order[: len(pairs) - 1] - 1).tolist())
    kept = [row for i, row in enumerate(rows) if i in chosen]
    return kept, [row for i, row in enumerate(rows) if i not in chosen]
