r"""A walk of harmonics: $W_h = \bigoplus_{j \in S} R(2\pi j/p)$, all of $h_1$ at phase 0.

The state at time t is $(\cos 2\pi jt/p, \sin 2\pi jt/p)_{j \in S}$ (one cosine,
$(-1)^t$, for $j = p/2$), and the readout is any argmax of affine functions that
tells the symbols apart: `separation` finds the widest.
"""

import numpy as np

from ..harmonics import cost, Frequencies, table
from ..structured import DENSE, Turns
from ..words import Word
from ..written import blocks, Written


def harmonic(w: Word, frequencies: Frequencies, readout: np.ndarray, lead: float) -> Written:
    """The network of a set of frequencies and a readout over the word's symbols,
    whose right logits lead by at least `lead`."""
    p, d = w.period, cost(frequencies, w.period)
    cos, sin = table(p)
    n = len(w.alphabet)
    if d == 0:
        # Nothing to remember: one unit, at rest; the bias speaks.
        zero = np.zeros((1, 1))
        b_y = np.where(np.arange(n) == w.indices[0], 1.0, 0.0)
        return Written(zero, np.zeros((n, 1)), b_y, np.zeros(1))
    turns = [(cos[j % p], sin[j % p], 2 * j == p) for j in frequencies]
    if d * d > DENSE:
        W_h = Turns(*(np.array([turn[i] for turn in turns]) for i in (0, 1)))
        readout = _with_half(readout, frequencies, p)
        h_0 = np.ravel([(c, -s) for c, s, _ in turns])
    else:
        W_h = blocks(
            *(np.array([[-1.0]]) if half else np.array([[c, -s], [s, c]]) for c, s, half in turns)
        )
        h_0 = np.concatenate([[c] if half else [c, -s] for c, s, half in turns])
    W_y, b_y = spread(w, readout, lead)
    return Written(W_h, W_y, b_y, h_0)


def spread(w: Word, readout: np.ndarray, lead: float) -> tuple[np.ndarray, np.ndarray]:
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


def _with_half(readout: np.ndarray, frequencies: Frequencies, p: int) -> np.ndarray:
    """Structured turns are planes, so p/2 gets a second unit that nobody reads."""
    if 2 * frequencies[-1] != p:
        return readout
    return np.concatenate([readout, np.zeros((len(readout), 1))], axis=1)
