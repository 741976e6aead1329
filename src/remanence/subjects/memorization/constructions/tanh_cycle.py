r"""A standard RNN that repairs itself: $h' = \tanh(g P h)$ with $g = 2$.

With $a = \tanh(ga)$ the sign patterns $a(2e_i - 1)$ are permuted by the map, and attract their
open orthant: every exponent is $\log g(1 - a^2) < 0$. (The one-hot pattern $a e_i$ is
permuted too, but repels.) Column $t$ of $W_y$ is symbol t, and $b_y$ is a times the count
of each symbol, so that logits are $2a$ for the right symbol and 0 for every other.
"""

import math

import numpy as np

from ..words import Word
from ..written import Written
from .permutation import cycle, spelling


GAIN, AMPLITUDE = 2.0, 0.9575040240772688
"""g, and a to the last bit of a double."""
EXPONENT = math.log(GAIN * (1 - AMPLITUDE**2))
"""Every Lyapunov exponent of the attracting cycle."""


def limit_cycle(w: Word) -> Written:
    """The attracting cycle of a word."""
    n, a = len(w.alphabet), AMPLITUDE
    h_0 = np.full(w.period, -a)
    h_0[-1] = a
    b_y = a * np.bincount(w.indices, minlength=n)
    W_y = spelling(w.indices, n).astype(float)
    return Written(GAIN * cycle(w.period), W_y, b_y, h_0, activation="tanh")
