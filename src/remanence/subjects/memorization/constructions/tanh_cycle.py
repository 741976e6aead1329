r"""A standard RNN that repairs itself: $h' = \tanh(g P h)$ with $g > 1$.

With $a = \tanh(ga)$ the sign patterns $a(2e_i - 1)$ are permuted by the map, and attract their open
orthant: every exponent is $\log g(1 - a^2) < 0$. (The one-hot pattern repels.) Column $t$ of $W_y$ is
symbol t, $b_y$ is a times the count of each: logits are $2a$ for the right symbol, 0 for the others.
"""

import math

import numpy as np

from ..words import Word
from ..written import Written
from .permutation import cycle, spelling


GAIN = 2.0


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
    W_y = spelling(w.indices, n).astype(float)
    return Written(gain * cycle(w.period), W_y, b_y, h_0, activation="tanh")
