r"""Memories in integers (permutation, rational, shift map), and tanh on the permutation.

*Permutation*, d units for a word of period d: $W_h = c^j$, $h_1 = e_1$, $W_y$ spells the
word; $c$ is the cyclic permutation and $j$ any stride coprime to $d$: $\varphi(d)$ choices.

*Rational*: $W_h = \bigoplus_q C(\Phi_q)$, companion matrices of cyclotomics. The state is
$(x^t \bmod \Phi_q)_q$, integers for ever; the readout is the real one in another basis,
scaled until rounding it to integers keeps every lead.

*Shift*, one unit that hears itself: $h' = n h - x$. The state is the rest of the string
read as a number in base n, so $\arg\max_j (j n h - j(j+1)/2) = \lfloor n h \rfloor$ is its
next digit. In floating point the digits run out, since the exponent is $\log n$.

*Tanh*, a standard RNN that repairs itself: $h' = \tanh(g P h)$ with $g > 1$. With
$a = \tanh(ga)$ the sign patterns $a(2e_i - 1)$ are permuted by the map, and attract their
open orthant: every exponent is $\log g(1 - a^2) < 0$. (The one-hot pattern $a e_i$ is
permuted too, but repels.) Column $t$ of $W_y$ is symbol t, and $b_y$ is a times the count
of each symbol, so that logits are $2a$ for the right symbol and 0 for every other.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from flint import fmpz_poly
from scipy.linalg import block_diag

from ..harmonics import features, Frequencies
from ..words import Word
from ..written import Labels, leads, matrix, Written
from .rotations import walk_network


GAIN = 2.0


def permutation(w: Word, *, stride: int = 1) -> Written:
    """The network of $c^{stride}$."""
    p, n = w.period, len(w.alphabet)
    if math.gcd(stride, p) != 1:
        raise ValueError(f"stride must be coprime to the period {p}, got {stride}")
    symbols = np.empty(p, dtype=np.int64)
    symbols[np.arange(p) * stride % p] = w.indices
    h_0 = np.zeros(p, dtype=np.int64)
    h_0[-stride % p] = 1
    return Written(cycle(p, stride), _spelling(symbols, n), np.zeros(n, dtype=np.int64), h_0)


def cycle(size: int, stride: int = 1) -> Any:
    """The permutation that takes unit i to unit i + stride."""
    i = np.arange(size)
    return matrix(np.ones(size, np.int64), (i + stride) % size, i, (size, size))


def _spelling(symbols: Sequence[int] | np.ndarray, outputs: int) -> Any:
    """The readout whose columns are the one-hot symbols."""
    p = len(symbols)
    return matrix(np.ones(p, np.int64), symbols, np.arange(p), (outputs, p))


def amplitude(gain: float) -> float:
    """The positive solution of $a = \\tanh(g a)$.

    >>> round(amplitude(2.0), 4)
    0.9575
    """
    if not gain > 1:
        raise ValueError(f"gain must be above 1, got {gain}")
    a = 1.0
    for _ in range(2000):
        # Newton on a concave function from the right: it does not overshoot.
        t = math.tanh(gain * a)
        step = (a - t) / (1 - gain * (1 - t * t))
        a -= step
        if abs(step) < 1e-17:
            break
    return a


def exponent(gain: float) -> float:
    """Every Lyapunov exponent of the attracting cycle, $\\log g(1 - a^2)$."""
    return math.log(gain * (1 - amplitude(gain) ** 2))


def limit_cycle(w: Word, *, gain: float = GAIN) -> Written:
    """The attracting cycle of a word."""
    n, a = len(w.alphabet), amplitude(gain)
    h_0 = np.full(w.period, -a)
    h_0[-1] = a
    b_y = a * np.bincount(w.indices, minlength=n)
    W_y = _spelling(w.indices, n).astype(float)
    return Written(gain * cycle(w.period), W_y, b_y, h_0, activation="tanh")


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
    for scale in (2**e for e in range(31)):
        whole = np.rint(scale * u).astype(np.int64)
        if leads(whole @ phi, labels).min() > 0:
            return whole
    raise AssertionError("a strict readout must survive rounding at some scale")


def shift_map(w: Word) -> tuple[Written, Written, int]:
    """The network in floating point, and in integers of size 1/D, with D = n^p - 1."""
    digits, n = w.pattern, base(w)
    D = n**w.period - 1
    # One step before the first: the last symbol was heard, n h_0 = h_1 + x_1.
    value = functools.reduce(lambda high, digit: high * n + digit, digits, 0)
    before = (value + digits[-1] * D) // n
    return _shift_weights(w, n, 1, float, before / D), _shift_weights(w, n, D, object, before), D


def base(w: Word) -> int:
    """As many digits as the word has symbols, and two at least."""
    return max(len(w.used), 2)


def _shift_weights(w: Word, n: int, unit: int, dtype: type, h_0: Any) -> Written:
    outputs = len(w.alphabet)
    W_y, W_x = np.zeros((outputs, 1), dtype=dtype), np.zeros((1, outputs), dtype=dtype)
    b_y = np.full(outputs, -unit, dtype=dtype)
    for digit, k in enumerate(w.used):
        W_y[k, 0], b_y[k] = digit * n, -(digit * (digit + 1) // 2) * unit
        W_x[0, k] = -digit * unit
    W_h, start = np.array([[n]], dtype=dtype), np.array([h_0], dtype=dtype)
    return Written(W_h, W_y, b_y, start, W_x=W_x, first=w.indices[-1])
