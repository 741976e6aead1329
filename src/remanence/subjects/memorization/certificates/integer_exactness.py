r"""Memories in integers: one period is run exactly, $h_{t+p} = h_t$, and returns.

A floating type is exact as well while every sum stays below its $2^{24}$ or $2^{53}$.
The shift map is exact in units of $1/(n^p - 1)$; in floating point its digits run out.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..structured import Cycle
from ..written import columns, Written
from .certificate import Certificate, first_state, FOREVER, UNIT, WHOLE


def exact_certificate(written: Written, labels: tuple[int, ...], *, unit: int = 1) -> Certificate:
    """One period in integers (of size 1/unit), and the largest number in it."""
    W_x = None if written.W_x is None else columns(written.W_x, written.inputs)
    if isinstance(written.W_h, Cycle):
        return _turned(written, labels)
    h, token, first = written.h_0, written.first, None
    leads, largest = [], 0
    dense = isinstance(written.W_h, np.ndarray)
    for t in range(len(labels) + 1):
        size = abs(written.W_h) @ abs(h) if dense else 2 * abs(h)
        h = written.W_h @ h
        if W_x is not None:
            h = h + W_x[token]
        if first is None:
            first = h
        if t == len(labels):
            break
        y = written.W_y @ h + written.b_y
        token, label = int(y.argmax()), labels[t]
        others = np.delete(y, label)
        if token != label or (others.size and not y[label] > others.max()):
            raise ValueError(f"these weights do not say symbol {label} at step {t + 1}")
        if others.size:
            leads.append(int(y[label] - others.max()))
        reach = abs(h)
        if isinstance(written.W_y, np.ndarray):
            reach = abs(written.W_y) @ reach + abs(written.b_y)
        largest = max(largest, int(size.max()), int(reach.max()))
    if not (h == first).all():
        raise ValueError("these weights do not return after one period")
    steps = {name: FOREVER if largest <= top else 0.0 for name, top in WHOLE.items()}
    lead = float(Fraction(min(leads), unit)) if leads else math.inf
    evidence = {"largest_integer": largest} if largest < 2**63 else {}
    return Certificate("exact arithmetic", lead, steps, evidence)


def _turned(written: Written, labels: tuple[int, ...]) -> Certificate:
    """A structured permutation of a one-hot state: each column is read once."""
    h = first_state(written)
    seat = np.flatnonzero(h)
    p, stride = written.W_h.size, written.W_h.stride
    if len(seat) != 1 or h[seat[0]] != 1 or p != len(labels) or written.W_h.gain != 1:
        raise ValueError("these weights do not turn one unit through all the others")
    seats = (seat[0] + stride * np.arange(p)) % p
    w, t = np.asarray(labels), np.arange(p)
    if isinstance(written.W_y, np.ndarray):
        y = written.W_y[:, seats] + written.b_y[:, None]
        right = y[w, t].copy()
        others = y.astype(object)
        others[w, t] = -(1 << 200)
        lead = int((right - others.max(axis=0)).min()) if len(y) > 1 else 1
    else:
        spelled = (np.asarray(written.W_y.symbols)[seats] == w).all()
        lead = int(spelled and not np.any(written.b_y))
    if math.gcd(stride, p) != 1 or lead <= 0:
        raise ValueError("these weights do not say the word")
    steps = dict.fromkeys(UNIT, FOREVER)
    return Certificate("exact arithmetic", float(lead), steps, {"largest_integer": 1})


def shift_steps(rooms: Sequence[float], base: int) -> dict[str, float]:
    """The steps that the shift map survives in floating point: errors grow by the
    base, and each state has its own room to the edge of its interval."""
    steps = {}
    for name, u in UNIT.items():
        error, done = u, 0
        while done < 1000:
            error = base * error + (base + 1) * u
            if not error < rooms[done % len(rooms)]:
                break
            done += 1
        steps[name] = float(done)
    return steps
