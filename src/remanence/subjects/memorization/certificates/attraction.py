r"""A memory that repairs itself: $\tanh(gPh)$ maps boxes round its cycle into each other.

A box of half-width $\varepsilon$ round each state is mapped into the next, rounding
included, so the memory holds for ever from anywhere inside.
"""

import math

import numpy as np

from ..written import Written
from .certificate import Certificate, first_state, FOREVER, UNIT


TANH_ERROR = 4.0
"""How far a library's tanh is assumed to err, in units in the last place of 1."""


def attraction_certificate(written: Written, labels: tuple[int, ...]) -> Certificate:
    """A box round the cycle that every rounded step maps into the next box."""
    p = len(labels)
    first = first_state(written)
    a = float(first[0])
    if not (0 < a < 1 and (first[1:] == -a).all()):
        raise ValueError("the first state is not the pattern of the limit cycle")
    gain = float(written.W_h.gain if hasattr(written.W_h, "gain") else written.W_h.max())
    if isinstance(written.W_h, np.ndarray):
        if not (written.W_h == gain * np.roll(np.eye(p), 1, axis=0)).all():
            raise ValueError("W_h is not a multiple of the cyclic permutation")
    elif written.W_h.stride != 1 or written.W_h.size != p:
        raise ValueError("W_h is not a multiple of the cyclic permutation")
    lead, spread, size = _leads(written, labels, a)
    steps, evidence = {}, {"gain": gain, "amplitude": a}
    for name, u in UNIT.items():
        guess = 0.01
        slope = gain * (1 - math.tanh(gain * (a - guess)) ** 2)
        off = abs(math.tanh(gain * a) - a) + 2.0**-50
        rounding = off + 2 * u * gain * slope + TANH_ERROR * u + 2 * u
        half = rounding / (1 - slope) if slope < 1 else math.inf
        left = lead - spread * half - 2 * (p + 3) * u * size
        steps[name] = FOREVER if half < guess and left > 0 else 0.0
        evidence[f"half_width_{name}"] = half
    return Certificate("attraction", lead, steps, evidence)


def _leads(written: Written, labels: tuple[int, ...], a: float) -> tuple[float, float, float]:
    """The least lead on the sign patterns, and how far a unit of deviation in every
    neuron, and rounding, can reach into a difference of logits."""
    if not isinstance(written.W_y, np.ndarray):
        counts = np.bincount(labels, minlength=len(written.b_y))
        if not (np.asarray(written.W_y.symbols) == labels).all() or not np.allclose(
            written.b_y, a * counts, rtol=1e-9
        ):
            raise ValueError("the readout does not spell the word")
        most = float(np.sort(counts)[-2:].sum())
        return 2 * a * (1 - 1e-9), most, 2 * most
    W, b = written.W_y, written.b_y
    p, n = len(labels), len(b)
    if n == 1:
        return math.inf, 0.0, 0.0
    # The pattern at t is -a everywhere, but for +a at unit t.
    y = (b - a * W.sum(axis=1))[:, None] + 2 * a * W
    t, w = np.arange(p), np.asarray(labels)
    lead = y[w, t] - y
    lead[w, t] = np.inf
    # Two rows are at most this far apart, and just so far where they share no unit.
    apart = np.sort(np.abs(W).sum(axis=1))[-2:].sum()
    size = np.abs(W).sum(axis=1) + np.abs(b)
    return float(lead.min()), float(apart), float(2 * size.max())
