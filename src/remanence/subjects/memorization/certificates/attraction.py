r"""A memory that repairs itself: $\tanh(gPh)$ maps boxes round its cycle into each other.

A box of half-width $\varepsilon$ round each state is mapped into the next, rounding
included, so the memory holds for ever from anywhere inside.
"""

import math

import numpy as np

from ..constructions.permutation import cycle
from ..written import leads, Written
from .certificate import Certificate, first_state, FOREVER, same, UNIT


TANH_ERROR = 4.0
"""How far a library's tanh is assumed to err, in units in the last place of 1."""
WIDEST = 0.01
"""The half-width of the largest box that is tried."""


def attraction_certificate(written: Written, labels: tuple[int, ...]) -> Certificate:
    """A box round the cycle that every rounded step maps into the next box."""
    p, first = len(labels), first_state(written)
    a, gain = float(first[0]), float(written.W_h.max())
    start = max(abs(first[0] - a), float(np.abs(first[1:] + a).max(initial=0.0)))
    if not (len(first) == p and 0 < a < 1 and start < WIDEST):
        raise ValueError("the first state is not the pattern of the limit cycle")
    if not same(written.W_h, gain * cycle(p)):
        raise ValueError("W_h is not a multiple of the cyclic permutation")
    reach = np.asarray(abs(written.W_y).sum(axis=1)).ravel()
    # A deviation of one in every unit moves two logits apart by at most this much.
    spread, size = float(np.sort(reach)[-2:].sum()), float(2 * (reach + np.abs(written.b_y)).max())
    lead = _least_lead(written, labels, a)
    steps, evidence = {}, {"gain": gain, "amplitude": a}
    for name, u in UNIT.items():
        slope = gain * (1 - math.tanh(gain * (a - WIDEST)) ** 2)
        off = abs(math.tanh(gain * a) - a) + 2.0**-50
        rounding = off + 2 * u * gain * slope + TANH_ERROR * u + 2 * u
        half = max(rounding / (1 - slope), start + 2 * u) if slope < 1 else math.inf
        left = lead - spread * half - 2 * (p + 3) * u * size
        steps[name] = FOREVER if half < WIDEST and left > 0 else 0.0
        evidence[f"half_width_{name}"] = half
    return Certificate("attraction", lead, steps, evidence)


def _least_lead(written: Written, labels: tuple[int, ...], a: float) -> float:
    """On the sign patterns: the one at t is -a everywhere, but for +a at unit t."""
    W, b, found = written.W_y, written.b_y, math.inf
    rest, chunk = b - a * np.asarray(W.sum(axis=1)).ravel(), max(1, (1 << 22) // len(b))
    for t in range(0, len(labels), chunk):
        part = W[:, t : t + chunk]
        y = rest[:, None] + 2 * a * (part if isinstance(part, np.ndarray) else part.toarray())
        found = min(found, float(leads(y, labels[t : t + chunk]).min()))
    return found
