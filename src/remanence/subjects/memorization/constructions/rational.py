r"""Memories in integers for ever: $W_h = \bigoplus_q C(\Phi_q)$, companion matrices of cyclotomics.

The state is $(x^t \bmod \Phi_q)_q$; the readout is the real one in another basis, scaled until
rounding it to integers keeps every lead.
"""

import math

import numpy as np
from flint import fmpz_poly
from scipy.linalg import block_diag

from ..harmonics import features, Frequencies
from ..words import Word
from ..written import Labels, leads, Written
from .rotations import walk_network


def _companion(order: int) -> np.ndarray:
    r"""Multiplication by $x$ modulo $\Phi_q$."""
    phi = [int(c) for c in fmpz_poly.cyclotomic(order).coeffs()]
    C = np.eye(len(phi) - 1, k=-1, dtype=np.int64)
    C[:, -1] = [-c for c in phi[:-1]]
    return C


def rational(w: Word, frequencies: Frequencies, readout: np.ndarray) -> Written:
    """The integer network of a Galois-closed set of frequencies, from a real readout over
    its harmonics."""
    p, n = w.period, len(w.alphabet)
    if not frequencies:
        return walk_network(w, (), readout, 0.0).astype(np.int64)
    parts = [_companion(q) for q in sorted({p // math.gcd(j, p) for j in frequencies})]
    W_h = np.asarray(block_diag(*parts), dtype=np.int64)
    walk = [np.concatenate([np.eye(len(part), dtype=np.int64)[0] for part in parts])]
    for _ in range(p - 1):
        walk.append(W_h @ walk[-1])
    phi = np.vstack([np.ones(p, dtype=np.int64), np.array(walk).T])
    u = _integer_readout(w.pattern, phi, readout @ features(p, frequencies))
    W_y = np.zeros((n, len(W_h)), dtype=np.int64)
    b_y = np.full(n, -int((np.abs(u) @ np.abs(phi)).max()) - 1, dtype=np.int64)
    W_y[list(w.used)], b_y[list(w.used)] = u[:, 1:], u[:, 0]
    return Written(W_h, W_y, b_y, walk[-1])


def _integer_readout(labels: Labels, phi: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """An integer readout of small entries that gives about these logits, its leads
    checked in integers."""
    u = logits @ np.linalg.pinv(phi.astype(float)) / min(leads(logits, labels).min(), 1.0)
    rounded = (np.rint(2**e * u).astype(np.int64) for e in range(31))
    return next(whole for whole in rounded if leads(whole @ phi, labels).min() > 0)
