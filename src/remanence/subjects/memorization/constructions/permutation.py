r"""Any word of period $d$ in $d$ units: $W_h = c^j$, $h_1 = e_1$, $W_y$ spells the word.

$c$ is the cyclic permutation and $j$ any stride coprime to $d$: $\varphi(d)$ choices.
Zeros and ones are exact in every arithmetic, so the memory never fades.
"""

import math

import numpy as np

from ..structured import Cycle, DENSE, Spelled
from ..words import Word
from ..written import Written


def permutation(w: Word, *, stride: int = 1) -> Written:
    """The network of $c^{stride}$; beyond a few thousand symbols as a structured map."""
    p, n = w.period, len(w.alphabet)
    if math.gcd(stride, p) != 1:
        raise ValueError(f"stride must be coprime to the period {p}, got {stride}")
    W_h = cycle(p, stride)
    seats = np.arange(p) * stride % p
    symbols = np.empty(p, dtype=np.int64)
    symbols[seats] = w.indices
    W_y = spelling(symbols, n)
    h_0 = np.zeros(p, dtype=np.int64)
    h_0[-stride % p] = 1
    b_y = np.zeros(n, dtype=np.int64)
    return Written(W_h, W_y, b_y, h_0)


def cycle(size: int, stride: int = 1):
    """The permutation that takes unit i to unit i + stride."""
    if size * size > DENSE:
        return Cycle(size, stride)
    return np.roll(np.eye(size, dtype=np.int64), stride, axis=0)


def spelling(symbols: np.ndarray, outputs: int):
    """The readout whose columns are the one-hot symbols."""
    if outputs * len(symbols) > DENSE:
        return Spelled(symbols, outputs)
    return np.eye(outputs, dtype=np.int64)[:, symbols]
