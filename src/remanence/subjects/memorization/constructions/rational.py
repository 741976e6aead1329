r"""Integer memories: $W_h = \bigoplus_q C(\Phi_q)$, companion matrices of cyclotomics.

The state is $(x^t \bmod \Phi_q)_q$, integers for ever; the readout is the real one
in another basis, scaled until rounding it to integers keeps every lead. Over all
$q > 1$ at once the walk is $x^t \bmod (1 + x + \dots + x^{p-1})$, and the readout has
a closed form: long words use it.
"""

import math

import numpy as np

from ..harmonics import cyclotomic, features, Frequencies
from ..structured import Balanced, Companion, DENSE, Spelled
from ..words import Word
from ..written import blocks, Written


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
    """The integer network of a Galois-closed set of frequencies, from a real readout
    over its harmonics."""
    p, labels = w.period, w.pattern
    if not frequencies:
        zero, n = np.zeros((1, 1), dtype=np.int64), len(w.alphabet)
        b_y = (np.arange(n) == w.indices[0]).astype(np.int64)
        return Written(zero, np.zeros((n, 1), dtype=np.int64), b_y, zero[0])
    orders = sorted({p // math.gcd(j, p) for j in frequencies})
    if readout is None or len(frequencies) == p // 2:
        return _complete(w)
    W_h = blocks(*(companion(q) for q in orders))
    h_1 = np.concatenate([np.eye(len(companion(q)), dtype=np.int64)[0] for q in orders])
    walk = [h_1]
    for _ in range(p - 1):
        walk.append(W_h @ walk[-1])
    u = _integer_readout(labels, np.array(walk).T, readout @ features(p, frequencies))
    n = len(w.alphabet)
    W_y = np.zeros((n, len(W_h)), dtype=np.int64)
    reach = np.vstack([np.ones(p, dtype=np.int64), np.abs(np.array(walk).T)])
    floor = -int((np.abs(u) @ reach).max()) - 1
    b_y = np.full(n, floor, dtype=np.int64)
    W_y[list(w.used)], b_y[list(w.used)] = u[:, 1:], u[:, 0]
    return Written(W_h, W_y, b_y, walk[-1])


def _integer_readout(labels: tuple[int, ...], walk: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """An integer readout of small entries that gives about these logits, its leads
    checked in integers."""
    phi = np.vstack([np.ones(walk.shape[1], dtype=np.int64), walk])
    u = logits @ np.linalg.pinv(phi.astype(float))
    lead = logits[list(labels), np.arange(len(labels))] - logits
    lead[list(labels), np.arange(len(labels))] = np.inf
    u = u / min(lead.min(), 1.0)
    for scale in (1, 2, 4, *(2**e for e in range(3, 31))):
        whole = np.rint(scale * u).astype(np.int64)
        y = whole @ phi
        t, w = np.arange(len(labels)), np.asarray(labels)
        best = y[w, t].copy()
        y[w, t] = np.iinfo(np.int64).min
        if (best > y.max(axis=0)).all():
            return whole
    raise AssertionError("a strict readout must survive rounding at some scale")


def _complete(w: Word) -> Written:
    r"""All $q > 1$: columns $p\,e_{w_t} - \text{counts}$ and bias counts, so that every
    state reads $p\,e_{w_t}$ exactly."""
    p, n = w.period, len(w.alphabet)
    counts = np.bincount(w.indices, minlength=n).astype(np.int64)
    spelled = np.asarray(w.indices[:-1])
    if n * p > DENSE:
        W_y = Balanced(Spelled(spelled, n), counts)
    else:
        W_y = -np.repeat(counts[:, None], p - 1, axis=1)
        W_y[spelled, np.arange(p - 1)] += p
    if (p - 1) ** 2 > DENSE:
        W_h = Companion(p - 1)
    else:
        W_h = np.eye(p - 1, k=-1, dtype=np.int64)
        W_h[:, -1] = -1
    return Written(W_h, W_y, counts, np.full(p - 1, -1, dtype=np.int64))
