r"""One unit that reads itself: $h' = n h - x$.

The state is the rest of the string read as a number in base n, so its next digit is
$\lfloor n h \rfloor = \arg\max_j (j n h - j(j+1)/2)$; digits of floats run out at the rate $\log n$.
"""

import functools
from typing import Any

import numpy as np

from ..words import Word
from ..written import Written


def shift_map(w: Word) -> tuple[Written, Written, int]:
    """The network in floating point, and in integers of size 1/D, with D = n^p - 1."""
    digits, n = w.pattern, base(w)
    D = n**w.period - 1
    # One step before the first: the last symbol was read, n h_0 = h_1 + x_1.
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
