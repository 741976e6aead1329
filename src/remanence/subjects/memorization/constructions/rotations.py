r"""Walks that turn: $W_h = \bigoplus_{j \in S} R(2\pi j/p)$, all of $h_1$ at phase 0.

The state at time t is $(\cos 2\pi jt/p, \sin 2\pi jt/p)_{j \in S}$ (one cosine, $(-1)^t$, for
$j = p/2$), and the readout is any argmax of affine functions that tells the symbols apart. With one
frequency it is the document's first memory, a walk round a regular polygon in j turns.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..harmonics import Frequencies, table, waves
from ..minimal.separation import Deadline, NEVER, proved_lead, separation, widest
from ..words import Word
from ..written import matrix, Written


def harmonic(w: Word, frequencies: Frequencies, readout: np.ndarray, lead: float) -> Written:
    """The network of a set of frequencies and a readout over the word's symbols,
    whose right logits lead by at least `lead`."""
    return walk_network(w, unit_eigenvalues(w.period, frequencies), readout, lead)


def rotation(w: Word, deadline: Deadline = NEVER) -> tuple[Written, int]:
    """Two units and their turns per period, the least first; at the deadline no more are tried."""
    p, labels = w.period, w.pattern
    if p == 1:
        return harmonic(w, (), np.zeros((1, 1)), 0.0), 0
    for j in (j for j in range(1, p // 2 + 1) if math.gcd(j, p) == 1):
        phi = waves(p, (j,), np.arange(p))
        first = separation(labels, phi, deadline=deadline).u
        if first is not None and proved_lead(first, labels, phi) > 0:
            u = widest(labels, phi, first, deadline)
            return harmonic(w, (j,), u, proved_lead(u, labels, phi)), j
    tried = "of those tried in time " if deadline.late else ""
    raise ValueError(
        f"rotation does not serve this word: no polygon {tried}tells its symbols apart; "
        "harmonic, rational, permutation, tanh and shift do"
    )


def unit_eigenvalues(period: int, frequencies: Frequencies) -> tuple[complex, ...]:
    """$e^{2\\pi i j/p}$ of each frequency."""
    cos, sin = table(period)
    return tuple(complex(cos[j], sin[j]) for j in frequencies)


def walk_network(
    w: Word, eigenvalues: Sequence[complex], readout: np.ndarray, lead: float
) -> Written:
    """A walk that starts at phase 0; its readout is in float32's numbers, unless its leads are too
    thin for them. Symbols that the word does not use stay below every logit that is reached."""
    n, used = len(w.alphabet), list(w.used)
    if not eigenvalues:
        # Nothing to remember: one unit, at rest; the bias speaks.
        b_y = np.where(np.arange(n) == used[0], 1.0, 0.0)
        return Written(np.zeros((1, 1)), np.zeros((n, 1)), b_y, np.zeros(1))
    before = [1 / z for z in eigenvalues]
    h_0 = np.concatenate([[z.real, z.imag] if z.imag else [z.real] for z in before])
    u = np.asarray(readout, dtype=np.float32).astype(float)
    if np.abs(u - readout).sum(axis=1).max() > 0.1 * lead:
        u = readout
    W_y, b_y = np.zeros((n, len(h_0))), np.full(n, -np.ceil(np.abs(u).sum(axis=1).max()) - 1.0)
    W_y[used], b_y[used] = u[:, 1:], u[:, 0]
    return Written(block_diagonal(eigenvalues), W_y, b_y, h_0)


def block_diagonal(values: Sequence[complex]) -> Any:
    """The real matrix with these eigenvalues, a plane for each that is not real."""
    entries, rows, columns, at = [], [], [], 0
    for z in values:
        c, s = z.real, z.imag
        entries += [c, -s, s, c] if s else [c]
        rows += [at, at, at + 1, at + 1] if s else [at]
        columns += [at, at + 1, at, at + 1] if s else [at]
        at += 2 if s else 1
    return matrix(entries, rows, columns, (at, at))
