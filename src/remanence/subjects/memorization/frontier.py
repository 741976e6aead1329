r"""One word, every construction: dimension × precision × stability.

For a linear memory without feedback a perturbation δ of the state becomes
$W_h^m \delta$, so the largest ball that stays right for ever is
$\min_{t, k, m} \text{lead}_{t,k} / |(u_{w_t} - u_k) W_h^m|$: exact, over one period.
"""

import dataclasses
import math

import jax.random as jr
import numpy as np

from ..._precision import double
from .constructions.limit_cycle import amplitude
from .memorize import memorize
from .memory import Memory
from .recall import first_error, noise_tolerance


METHODS = ("shift", "rotation", "harmonic", "rational", "permutation", "tanh")


@dataclasses.dataclass(frozen=True)
class Point:
    """One construction of one word."""

    method: str
    dimension: int
    bits: int
    """Binary places to which the state must be kept for one period to be right."""
    margin: float
    exponent: float
    proved_noise: float
    measured_noise: float
    proved_float32: float
    error_float32: int | None
    error_float64: int | None


def frontier(
    word: str,
    *,
    steps: int,
    directions: int,
    seed: int = 0,
    time_limit: float = 10.0,
    end: bool = False,
) -> list[Point]:
    """Every construction that serves the word, the fewest units first."""
    points = []
    for method in METHODS:
        try:
            memory = memorize(word, method=method, end=end, time_limit=time_limit)
        except ValueError:
            continue
        points.append(point(memory, steps=steps, directions=directions, seed=seed))
    return sorted(points, key=lambda p: (p.dimension, -p.exponent))


def point(memory: Memory, *, steps: int, directions: int, seed: int = 0) -> Point:
    """The measurements of one memory."""
    labels = memory.word.indices
    with double():
        wide = memory.network
        error64 = first_error(wide, labels, steps=steps)
        measured = noise_tolerance(wide, labels, key=jr.key(seed), directions=directions)
    return Point(
        method=memory.method,
        dimension=memory.dimension,
        bits=bits(memory),
        margin=memory.margin,
        exponent=memory.exponent,
        proved_noise=proved_noise(memory),
        measured_noise=measured.size,
        proved_float32=memory.certificate.steps["float32"],
        error_float32=first_error(memory.network, labels, steps=steps),
        error_float64=error64,
    )


def proved_noise(memory: Memory) -> float:
    """A perturbation of this size, in any direction and at any time, is harmless."""
    labels, written = memory.word.indices, memory.written
    if memory.method == "shift":
        # Every deviation grows by the base: none is harmless for ever.
        return 0.0
    if memory.method == "tanh":
        # While signs are kept each unit only comes nearer to the cycle, so the lead,
        # positive within the margin, stays positive.
        return min(amplitude(float(np.max(written.W_h))), memory.margin)
    W, b, p = np.asarray(written.W_y), written.b_y, len(labels)
    if len(b) == 1:
        return math.inf
    orbit = written.orbit(p)
    smallest = math.inf
    power = np.eye(written.dimension)
    for _ in range(p):
        moved = W @ power
        for h, label in zip(orbit, labels, strict=True):
            y = W @ h + b
            lead = np.delete(y[label] - y, label)
            apart = np.linalg.norm(np.delete(moved[label] - moved, label, axis=0), axis=1)
            with np.errstate(divide="ignore"):
                smallest = min(smallest, float((lead / apart).min()))
        power = power @ np.asarray(written.W_h, dtype=float)
    return smallest


def bits(memory: Memory) -> int:
    """The least b such that rounding every state to multiples of $2^{-b}$ keeps one
    period right; the shift map is run in integers, since floats would not do."""
    labels = memory.word.indices
    for b in range(4096):
        if _right_at(memory, labels, b):
            return b
    raise AssertionError("4,096 bits hold every word that is shown here")


def _right_at(memory: Memory, labels: tuple[int, ...], b: int) -> bool:
    if memory.method == "shift":
        return _shift_right_at(memory, labels, b)
    written = memory.written
    round_ = lambda h: np.round(h * 2.0**b) / 2.0**b
    h = round_(written.h_0)
    for label in labels:
        h = written.W_h @ h
        h = round_(np.tanh(h) if written.activation == "tanh" else h)
        if int((written.W_y @ h + written.b_y).argmax()) != label:
            return False
    return True


def _shift_right_at(memory: Memory, labels: tuple[int, ...], b: int) -> bool:
    exact = memory.exact
    assert exact is not None
    base = int(exact.W_h[0, 0])
    unit = base**memory.word.period - 1
    # h_1 in multiples of 2^-b; the map is integer, so it is never rounded again.
    h_1 = base * int(exact.h_0[0]) + int(exact.W_x[0, exact.first])
    h = (2 * h_1 * 2**b + unit) // (2 * unit)
    digits = {k: i for i, k in enumerate(memory.word.used)}
    for label in labels:
        digit = min(max((base * h) >> b, 0), len(digits) - 1)
        if digit != digits[label]:
            return False
        h = base * h - (digit << b)
    return True
