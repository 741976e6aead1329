r"""A string read once: $h_t = W_h^t h_0$ with any eigenvalues, until `<END>` is said.

Nothing returns, so planes may grow and fade: after t steps in floating point a plane
of eigenvalue $z$ is within $((1 + \eta)^t - 1)|z|^t$ of its place, $\eta$ what weights
and rounding do to it in a step. The leads, which have only to last the string, must be
wider than what that does to them.
"""

import math
from typing import Any

import numpy as np

from ..certificates.certificate import Certificate, first_state, UNIT
from ..minimal.single_pass import SinglePass
from ..words import Word
from ..written import blocks, Written
from .harmonic import spread


def one_reading(w: Word, found: SinglePass) -> Written:
    """The network of a single-pass minimum."""
    planes = [
        np.array([[z.real, -z.imag], [z.imag, z.real]]) if z.imag else np.array([[z.real]])
        for z in found.eigenvalues
    ]
    h_0 = np.concatenate([np.eye(len(block))[0] for block in planes])
    return Written(blocks(*planes), *spread(w, found.readout, 0.0), h_0)


def reading_certificate(written: Written, labels: tuple[int, ...]) -> Certificate:
    """For how many steps of one reading every symbol leads, rounding included."""
    W, b, u64 = written.W_y, written.b_y, UNIT["float64"]
    starts, z = _eigenvalues(written.W_h)
    h_1 = first_state(written)
    lead, steps, evidence = math.inf, {}, {"eigenvalues": [str(x) for x in z]}
    rooms = {name: [] for name in UNIT}
    for t, label in enumerate(labels, start=1):
        h = _power(z, starts, h_1, t - 1)
        size = np.add.reduceat(h**2, starts) ** 0.5
        y, reach = W @ h + b, np.abs(W) @ np.abs(h) + np.abs(b)
        others = np.arange(len(b)) != label
        if not others.any():
            continue
        sure = y[label] - y - (len(h) + 2 * t + 8) * u64 * (reach[label] + reach)
        lead = min(lead, float(sure[others].min()))
        pull = np.sqrt(np.add.reduceat((W[label] - W) ** 2, starts, axis=1)) @ size
        for name, u in UNIT.items():
            # Weights and the start rounded to the type, two products and a sum a step.
            eta = (2 + math.sqrt(2)) * u * 1.001
            drifted = math.expm1((t + 1) * math.log1p(eta))
            read = (len(h) + 5) * u * (1 + drifted) * (reach[label] + reach)
            rooms[name].append(float((sure - drifted * pull - read)[others].min()))
    for name, room in rooms.items():
        wrong = next((t for t, x in enumerate(room) if not x > 0), len(labels))
        steps[name] = float(wrong)
    return Certificate("margin over one reading", lead, steps, evidence)


def _eigenvalues(W_h: Any) -> tuple[list[int], list[complex]]:
    """Where each block of a block-diagonal W_h begins, and its eigenvalue."""
    d, at, starts, found = len(W_h), 0, [], []
    rest = np.array(W_h, dtype=float)
    while at < d:
        starts.append(at)
        size = 2 if at + 1 < d and W_h[at + 1, at] != 0 else 1
        block = W_h[at : at + size, at : at + size]
        found.append(complex(block[0, 0], block[1, 0] if size == 2 else 0.0))
        if size == 2 and (block[0, 1] != -block[1, 0] or block[1, 1] != block[0, 0]):
            raise ValueError("a plane of W_h does not turn and stretch")
        rest[at : at + size, at : at + size] = 0
        at += size
    if rest.any():
        raise ValueError("W_h is not made of planes and single units")
    return starts, found


def _power(z: list[complex], starts: list[int], h_1: np.ndarray, t: int) -> np.ndarray:
    h = np.array(h_1, dtype=float)
    for i, x in zip(starts, z, strict=True):
        if x.imag:
            turned = complex(h_1[i], h_1[i + 1]) * x**t
            h[i], h[i + 1] = turned.real, turned.imag
        else:
            h[i] = h_1[i] * x.real**t
    return h
