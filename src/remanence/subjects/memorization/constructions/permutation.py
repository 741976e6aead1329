r"""A permutation, d units for a word of period d: $W_h = c^j$, $h_1 = e_1$, $W_y$ spells the word.

$c$ is the cyclic permutation and $j$ any stride coprime to $d$: $\varphi(d)$ choices.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..words import Word
from ..written import matrix, Written


def permutation(w: Word, *, stride: int = 1) -> Written:
    """The network of $c^{stride}$."""
    p, n = w.period, len(w.alphabet)
    if math.gcd(stride, p) != 1:
        raise ValueError(f"stride must be coprime to the period {p}, got {stride}")
    symbols = np.empty(p, dtype=np.int64)
    symbols[np.arange(p) * stride % p] = w.indices
    h_0 = np.zeros(p, dtype=np.int64)
    h_0[-stride % p] = 1
    return Written(cycle(p, stride), spelling(symbols, n), np.zeros(n, dtype=np.int64), h_0)


def cycle(size: int, stride: int = 1) -> Any:
    """The permutation that takes unit i to unit i + stride."""
    i = np.arange(size)
    return matrix(np.ones(size, np.int64), (i + stride) % size, i, (size, size))


def spelling(symbols: Sequence[int] | np.ndarray, outputs: int) -> Any:
    """The readout whose columns are the one-hot symbols."""
    p = len(symbols)
    return matrix(np.ones(p, np.int64), symbols, np.arange(p), (outputs, p))
