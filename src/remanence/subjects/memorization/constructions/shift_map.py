r"""One unit that hears itself: the shift map $h' = n h - x$.

The state is the rest of the string read as a number in base n, so
$\arg\max_j (j n h - j(j+1)/2) = \lfloor n h \rfloor$ is its next digit. Exact in
rationals; in floating point the digits run out, since the exponent is $\log n$.
"""

import dataclasses

import numpy as np

from ..words import Word
from ..written import Written


@dataclasses.dataclass(frozen=True, eq=False)
class Shift:
    """The network in floating point, and in integers, in units of 1/`denominator`.

    `rooms` are the distances of the states from the edges of their intervals.
    """

    written: Written
    exact: Written
    denominator: int
    rooms: tuple[float, ...]


def shift(w: Word) -> Shift:
    """The shift map over the digits that the word uses."""
    digits, n = w.pattern, max(len(w.used), 2)
    D = n**w.period - 1
    state, rooms = int_in_base(digits, n), []
    first = state
    for digit in digits:
        # The lowest and the highest digit have one neighbour only.
        below = n * state - digit * D if digit else D
        above = (digit + 1) * D - n * state if digit < n - 1 else D
        rooms.append(min(below, above) / (n * D))
        state = n * state - digit * D
    # One step before the first: the last symbol was heard, n h_0 = h_1 + x_1.
    before = (first + digits[-1] * D) // n
    exact = _weights(w, n, D, object, before)
    written = _weights(w, n, 1, float, before / D)
    return Shift(written, exact, D, tuple(rooms))


def int_in_base(digits: tuple[int, ...], base: int) -> int:
    """The digits, first one highest, as a number; halves are joined, for long words."""
    if len(digits) <= 64:
        value = 0
        for digit in digits:
            value = value * base + digit
        return value
    middle = len(digits) // 2
    high, low = int_in_base(digits[:middle], base), int_in_base(digits[middle:], base)
    return high * base ** (len(digits) - middle) + low


def _weights(w: Word, n: int, unit: int, dtype: type, h_0) -> Written:
    j = list(range(len(w.used)))
    outputs = len(w.alphabet)
    W_y = np.zeros((outputs, 1), dtype=dtype)
    W_x = np.zeros((1, outputs), dtype=dtype)
    b_y = np.full(outputs, -unit, dtype=dtype)
    for digit, k in zip(j, w.used, strict=True):
        W_y[k, 0], b_y[k] = digit * n, -(digit * (digit + 1) // 2) * unit
        W_x[0, k] = -digit * unit
    start = np.array([h_0], dtype=dtype)
    W_h = np.array([[n]], dtype=dtype)
    return Written(W_h, W_y, b_y, start, W_x=W_x, first=w.indices[-1])
