r"""Memories in integers: one period is run exactly, $h_{t+p} = h_t$, and returns.

A floating type is exact as well while every sum stays below its $2^{24}$ or $2^{53}$.
The shift map is exact in units of $1/(n^p - 1)$; in floating point its digits run out.
"""

import math

import numpy as np

from ..written import column, Written
from .certificate import Certificate, FOREVER, UNIT, WHOLE


def exact_certificate(written: Written, labels: tuple[int, ...]) -> Certificate:
    """One period in integers, and the largest number in it."""
    W_h, W_y, b_y = written.W_h, written.W_y, written.b_y
    sizes = [abs(A.astype(float)) for A in (W_h, W_y, b_y)]
    h, token, first = written.h_0, written.first, None
    lead, largest = math.inf, 0.0
    for t in range(len(labels) + 1):
        # Sizes in floating point first: integers of 64 bits wrap without a word.
        reach = sizes[0] @ abs(h.astype(float))
        heard = 0 * h if written.W_x is None else column(written.W_x, token)
        reach = reach + abs(heard.astype(float))
        largest = max(largest, float(reach.max()), float((sizes[1] @ reach + sizes[2]).max()))
        if largest > 2.0**62:
            raise ValueError("the weights reach integers of more than 62 bits")
        h = W_h @ h + heard
        first = h if first is None else first
        if t == len(labels):
            break
        y, label = W_y @ h + b_y, labels[t]
        token, others = int(y.argmax()), np.delete(y, label)
        if token != label or (others.size and not y[label] > others.max()):
            raise ValueError(f"these weights do not say symbol {label} at step {t + 1}")
        lead = min(lead, float(y[label] - others.max()) if others.size else math.inf)
    if not (h == first).all():
        raise ValueError("these weights do not return after one period")
    # The sizes may have been rounded down, by less than their number of terms.
    largest *= 1 + written.dimension * 2.0**-50
    steps = {name: FOREVER if largest <= top else 0.0 for name, top in WHOLE.items()}
    return Certificate("exact arithmetic", lead, steps, {"largest_integer": int(largest)})


def shift_certificate(written: Written, labels: tuple[int, ...], unit: int) -> Certificate:
    """The shift map in integers of size 1/unit for one period, and the steps that it
    survives in floating point: errors grow by the base until they reach a lead."""
    whole = lambda A: [int(x) for x in A.ravel()]
    (base,), W_y, b_y, W_x = (
        whole(A) for A in (written.W_h, written.W_y, written.b_y, written.W_x)
    )
    (h,), token, first, states = whole(written.h_0), written.first, None, []
    lead, margin = math.inf, math.inf
    for t in range(len(labels) + 1):
        h = base * h + W_x[token]
        first = h if first is None else first
        if t == len(labels):
            break
        y, token = [v * h + b for v, b in zip(W_y, b_y, strict=True)], labels[t]
        for k in (k for k in range(len(y)) if k != token):
            gap, slope = y[token] - y[k], abs(W_y[token] - W_y[k])
            if not gap > 0:
                raise ValueError(f"these weights do not say symbol {token} at step {t + 1}")
            lead = min(lead, gap)
            margin = min(margin, gap / (slope * unit) if slope else math.inf)
        states.append(h)
    if h != first:
        raise ValueError("these weights do not return after one period")
    real = lambda numbers, scale: np.array([x / scale for x in numbers])
    orbit, W, b = real(states, unit), real(W_y, 1), real(b_y, unit)
    largest, steps = float(np.abs(orbit).max()), {}
    for name, u in UNIT.items():
        error, done = u * largest, 0.0 if len(b) > 1 else FOREVER
        while done < math.inf:
            # The product and the sum of a step; then the product and the sum of a reading.
            error = base * error + 1.01 * u * (base + 1) * (largest + error)
            h, label = (a[int(done) % len(labels)] for a in (orbit, labels))
            y, read = W * h + b, 4 * u * (np.abs(W) * (largest + error) + np.abs(b))
            room = y[label] - y - np.abs(W[label] - W) * error - read[label] - read
            if not np.delete(room, label).min() > 0:
                break
            done += 1
        steps[name] = done
    lead = lead if lead == math.inf else lead / unit
    return Certificate("exact arithmetic", lead, steps, {"margin": margin})
