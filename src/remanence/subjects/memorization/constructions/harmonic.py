r"""A walk of harmonics: $W_h = \bigoplus_{j \in S} R(2\pi j/p)$, all of $h_1$ at phase 0.

The state at time t is $(\cos 2\pi jt/p, \sin 2\pi jt/p)_{j \in S}$ (one cosine,
$(-1)^t$, for $j = p/2$), and the readout is any argmax of affine functions that
tells the symbols apart: `separation` finds the widest.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..harmonics import Frequencies, table
from ..words import Word
from ..written import matrix, Written


def harmonic(w: Word, frequencies: Frequencies, readout: np.ndarray, lead: float) -> Written:
    """The network of a set of frequencies and a readout over the word's symbols,
    whose right logits lead by at least `lead`."""
    return walk_network(w, unit_eigenvalues(w.period, frequencies), readout, lead)


def unit_eigenvalues(period: int, frequencies: Frequencies) -> tuple[complex, ...]:
    """$e^{2\\pi i j/p}$ of each frequency."""
    cos, sin = table(period)
    return tuple(complex(cos[j], sin[j]) for j in frequencies)


def walk_network(
    w: Word, eigenvalues: Sequence[complex], readout: np.ndarray, lead: float
) -> Written:
    """A walk whose planes and single units are all at phase 0 at the first symbol."""
    if not eigenvalues:
        # Nothing to remember: one unit, at rest; the bias speaks.
        b_y = np.where(np.arange(len(w.alphabet)) == w.indices[0], 1.0, 0.0)
        return Written(np.zeros((1, 1)), np.zeros((len(b_y), 1)), b_y, np.zeros(1))
    before = [1 / z for z in eigenvalues]
    h_0 = np.concatenate([[z.real, z.imag] if z.imag else [z.real] for z in before])
    W_y, b_y = readout_over_alphabet(w, readout, lead)
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


def readout_over_alphabet(
    w: Word, readout: np.ndarray, lead: float
) -> tuple[np.ndarray, np.ndarray]:
    """A readout over the used symbols as one over the alphabet.

    In float32's numbers, unless its leads are too thin for them. Symbols that the
    word does not use stay below every logit that is reached.
    """
    u = np.asarray(readout, dtype=np.float32).astype(float)
    if np.abs(u - readout).sum(axis=1).max() > 0.1 * lead:
        u = readout
    W_y = np.zeros((len(w.alphabet), u.shape[1] - 1))
    floor = -np.ceil(np.abs(u).sum(axis=1).max()) - 1.0
    b_y = np.full(len(w.alphabet), floor)
    W_y[list(w.used)], b_y[list(w.used)] = u[:, 1:], u[:, 0]
    return W_y, b_y
