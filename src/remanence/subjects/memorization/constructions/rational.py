r"""Integer memories: $W_h = \bigoplus_q C(\Phi_q)$, companion matrices of cyclotomics.

The state is $(x^t \bmod \Phi_q)_q$, integers for ever; the readout is the real one
in another basis, scaled until rounding it to integers keeps every lead. Over all
$q > 1$ at once the walk is $x^t \bmod (1 + x + \dots + x^{p-1})$, and the readout has
a closed form: long words use it.
"""

import math

import numpy as np
from scipy.linalg import block_diag

from ..harmonics import cyclotomic, features, Frequencies
from ..words import Word
from ..written import LARGEST, leads, matrix, Written


def companion(order: int) -> np.ndarray:
    r"""Multiplication by $x$ modulo $\Phi_q$.

    >>> companion(4).tolist()
    [[0, -1], [1, 0]]
    """
    phi = [int(c) for c in cyclotomic(order).coeffs()]
    C = np.eye(len(phi) - 1, k=-1, dtype=np.int64)
    C[:, -1] = [-c for c in phi[:-1]]
    return C


def rational(w: Word, frequencies: Frequencies, readout: np.ndarray | None) -> Written:
    """The integer network of a Galois-closed set of frequencies, from a real readout over
    its harmonics; None where all are there, for which a closed form serves."""
    p, n = w.period, len(w.alphabet)
    if not frequencies:
        zero = np.zeros((1, 1), dtype=np.int64)
        b_y = (np.arange(n) == w.indices[0]).astype(np.int64)
        return Written(zero, np.zeros((n, 1), dtype=np.int64), b_y, zero[0])
    if readout is None or len(frequencies) == p // 2:
        return _all_harmonics(w)
    parts = [companion(q) for q in sorted({p // math.gcd(j, p) for j in frequencies})]
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


def _integer_readout(labels: tuple[int, ...], phi: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """An integer readout of small entries that gives about these logits, its leads
    checked in integers."""
    u = logits @ np.linalg.pinv(phi.astype(float)) / min(leads(logits, labels).min(), 1.0)
    for scale in (2**e for e in range(31)):
        whole = np.rint(scale * u).astype(np.int64)
        if leads(whole @ phi, labels).min() > 0:
            return whole
    raise AssertionError("a strict readout must survive rounding at some scale")


def _all_harmonics(w: Word) -> Written:
    r"""All $q > 1$: columns $p\,e_{w_t} - \text{counts}$ and bias counts, so that every
    state reads $p\,e_{w_t}$ exactly."""
    p, n, t = w.period, len(w.alphabet), np.arange(w.period - 1)
    if n * p > LARGEST:
        raise ValueError(
            f"rational needs a readout of {n:,} × {p:,} numbers here; permutation and tanh do without"
        )
    counts = np.bincount(w.indices, minlength=n).astype(np.int64)
    W_y = np.repeat(-counts[:, None], p - 1, axis=1)
    W_y[w.indices[:-1], t] += p
    entries = np.concatenate([np.ones(p - 2, np.int64), -np.ones(p - 1, np.int64)])
    rows, columns = np.concatenate([t[1:], t]), np.concatenate([t[:-1], np.full(p - 1, p - 2)])
    W_h = matrix(entries, rows, columns, (p - 1, p - 1))
    return Written(W_h, W_y, counts, np.full(p - 1, -1, dtype=np.int64))
