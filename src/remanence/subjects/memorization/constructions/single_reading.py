r"""A string read once: $h_t = W_h^t h_0$ with any eigenvalues, until `<END>` is said."""

import numpy as np

from ..minimal.single_pass import SinglePass
from ..words import Word
from ..written import Written
from .harmonic import block_diagonal, readout_over_alphabet


def single_reading(w: Word, found: SinglePass) -> Written:
    """The network of a single-pass minimum: nothing returns, so planes may grow and fade."""
    h_0 = np.concatenate([[1.0, 0.0] if z.imag else [1.0] for z in found.eigenvalues])
    W_y, b_y = readout_over_alphabet(w, found.readout, 0.0)
    return Written(block_diagonal(found.eigenvalues), W_y, b_y, h_0)
