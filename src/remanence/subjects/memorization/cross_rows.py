"""The memorizers in the cross table: measured by the same instruments as every network."""

import math

import numpy as np

from ..._precision import double
from ...measure import lyapunov_spectrum
from ...nets import ClosedLoop
from ...report import Row
from .memorize import memorize


def cross_rows(word: str) -> list[Row]:
    """One row for each kind of memory."""
    found = []
    for method in ("shift", "harmonic", "tanh"):
        memory = memorize(word, method=method)
        with double():
            net = memory.network
            # Long enough to settle, short enough that the shift map has its digits.
            steps = 12 if method == "shift" else 4 * memory.word.period
            start = net.cell(net.h_0, net.one_hot(net.first))
            loop = ClosedLoop(net.cell, net.feedback)
            spectrum = lyapunov_spectrum(loop, steps=steps, h0=start, warmup=0)
        largest = float(np.asarray(spectrum.exponents)[0])
        largest = 0.0 if abs(largest) < 1e-9 else largest
        rates = {"shift": None, "tanh": math.exp(memory.exponent)}
        found.append(
            Row(
                network=f"{method} memory of “{word}”",
                dimension=memory.dimension,
                largest_exponent=largest,
                horizon=-1 / largest if largest < 0 else math.inf,
                certified_rate=rates.get(method, 1.0),
                rank=int(np.linalg.matrix_rank(memory.written.W_h)),
                key_frequencies=", ".join(f"{j}/{memory.word.period}" for j in memory.frequencies),
            )
        )
    return found
