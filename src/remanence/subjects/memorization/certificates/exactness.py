r"""Memories in integers: one period is run exactly, $h_{t+p} = h_t$, and returns.

A floating type is exact as well while every sum stays below its $2^{24}$ or $2^{53}$.
The shift map is exact in units of $1/(n^p - 1)$; in floating point its digits run out.
"""

import math
from collections.abc import Iterator

import numpy as np

from ..written import column, Written
from .certificate import Certificate, FOREVER, UNIT, WHOLE


def _period(written: Written, labels: tuple[int, ...]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The states of one period in integers, each with the leads of its symbol; refused if
    another symbol is said or the first state does not return."""
    h, token, first = written.h_0, written.first, None
    for t, label in enumerate((*labels, None)):
        h = written.W_h @ h
        h = h if written.W_x is None else h + column(written.W_x, token)
        first = h if first is None else first
        if label is None:
            break
        y = written.W_y @ h + written.b_y
        leads = np.delete(y[label] - y, label)
        if not (leads > 0).all():
            raise ValueError(f"these weights do not say symbol {label} at step {t + 1}")
        yield h, leads
        token = label
    if not (h == first).all():
        raise ValueError("these weights do not return after one period")


def exact_certificate(written: Written, labels: tuple[int, ...]) -> Certificate:
    """One period in integers, and the largest number in it."""
    W_h, W_y, b_y = (abs(A.astype(float)) for A in (written.W_h, written.W_y, written.b_y))
    heard = 0.0 if written.W_x is None else float(abs(written.W_x.astype(float)).max())

    def largest_after(h: np.ndarray) -> float:
        # In floating point: integers of 64 bits wrap without a word.
        reach = W_h @ abs(h.astype(float)) + heard
        found = max(float(reach.max()), float((W_y @ reach + b_y).max()))
        if found > 2.0**62:
            raise ValueError("the weights reach integers of more than 62 bits")
        return found

    lead, largest = math.inf, largest_after(written.h_0)
    for h, leads in _period(written, labels):
        lead = min([lead, *map(float, leads)])
        largest = max(largest, largest_after(h))
    # The sizes may have been rounded down, by less than their number of terms.
    largest *= 1 + written.dimension * 2.0**-50
    steps = {name: FOREVER if largest <= top else 0.0 for name, top in WHOLE.items()}
    return Certificate("exact arithmetic", lead, steps, {"largest_integer": int(largest)})


def shift_certificate(written: Written, labels: tuple[int, ...], unit: int) -> Certificate:
    """The shift map in integers of size 1/unit for one period, and the steps that it
    survives in floating point: errors grow by the base until they reach a lead."""
    base, W_y = int(written.W_h[0, 0]), written.W_y[:, 0]
    lead, margin, orbit = math.inf, math.inf, []
    for (h,), leads in _period(written, labels):
        slopes = abs(np.delete(W_y[labels[len(orbit)]] - W_y, labels[len(orbit)]))
        for gap, slope in zip(leads, slopes, strict=True):
            lead = min(lead, gap / unit)
            margin = min(margin, gap / (slope * unit) if slope else math.inf)
        orbit.append(h / unit)
    W, b, steps = W_y.astype(float), np.array([x / unit for x in written.b_y]), {}
    largest = max(map(abs, orbit))
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
    return Certificate("exact arithmetic", lead, steps, {"margin": margin})
