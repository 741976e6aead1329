r"""Rotations in floating point: after N steps within $(1 + \eta)^N - 1$ of the true walk.

$\eta$ bounds what weights and rounding do to a plane that turns by $2\pi j/p$; the
readout's leads must outlast it.
"""

import math
from typing import Any

import numpy as np

from ..harmonics import table
from ..structured import Turns
from ..written import Written
from .certificate import Certificate, first_state, FOREVER, UNIT


def drift_certificate(
    written: Written, labels: tuple[int, ...], period: int, frequencies: tuple[int, ...]
) -> Certificate:
    """How long rotating planes stay within the leads of the readout."""
    chunk = max(1, (1 << 22) // max(written.dimension, 1))
    bounds = [
        _reach(written, labels, frequencies, np.arange(period)[i : i + chunk])
        for i in range(0, period, chunk)
    ]
    lead = min(b[0] for b in bounds)
    steps: dict[str, float] = {}
    evidence: dict[str, Any] = {"frequencies": list(frequencies)}
    for name, u in UNIT.items():
        eta = _step_error(written.W_h, frequencies, period, u)
        allowed = min(b[1][name] for b in bounds)
        evidence[f"error_per_step_{name}"] = eta
        evidence[f"allowed_drift_{name}"] = allowed
        steps[name] = _steps(allowed, eta)
    _begins(written, frequencies, period)
    return Certificate("margin against drift", lead, steps, evidence)


def _begins(written: Written, frequencies: tuple[int, ...], p: int) -> None:
    """Refuse a walk that does not start at phase zero."""
    h = first_state(written)
    planes = written.dimension == 2 * len(frequencies)
    wanted = [x for j in frequencies for x in ([1.0] if 2 * j == p and not planes else [1.0, 0.0])]
    if frequencies and not np.allclose(h, wanted, rtol=0, atol=1e-12):
        raise ValueError("the first state is not where the walk begins")


def _steps(allowed: float, eta: float) -> float:
    if allowed <= 0:
        return 0.0
    if eta == 0 or math.isinf(allowed):
        return FOREVER
    # The start is a rounded point of the walk itself, which costs one step.
    return float(max(math.floor(math.log1p(allowed) / math.log1p(eta)) - 1, 0))


def _step_error(W_h: Any, frequencies: tuple[int, ...], p: int, u: float) -> float:
    """The worst plane's distance from its rotation, plus the rounding of one step.

    Each component is two products and a sum: $(1 + \\sqrt 2) u$ of the plane's norm.
    """
    cos, sin = table(p)
    at, worst = 0, 0.0
    rest = np.zeros((0, 0)) if isinstance(W_h, Turns) else np.array(W_h, float)
    planes = W_h.shape[0] == 2 * len(frequencies)
    kind = np.float32 if u > 1e-10 else np.float64
    for i, j in enumerate(frequencies):
        if isinstance(W_h, Turns):
            c, s = W_h.cos[i], W_h.sin[i]
        elif 2 * j == p and not planes:
            # A flip of sign is exact.
            if W_h[at, at] != -1:
                raise ValueError("the unit of frequency p/2 must flip its sign")
            rest[at, at] = 0
            at += 1
            continue
        else:
            c, s = W_h[at, at], W_h[at + 1, at]
            if W_h[at, at + 1] != -s or W_h[at + 1, at + 1] != c:
                raise ValueError("a plane of W_h is not a rotation")
            at += 2
        if not isinstance(W_h, Turns):
            rest[at - 2 : at, at - 2 : at] = 0
        off = math.hypot(float(kind(c)) - cos[j % p], float(kind(s)) - sin[j % p])
        worst = max(worst, off + 2.0**-52)
    if rest.any():
        raise ValueError("W_h couples one plane to another")
    return 0.0 if worst == 0 else (worst + (1 + math.sqrt(2)) * u) * (1 + 1e-6)


def _reach(
    written: Written, labels: tuple[int, ...], frequencies: tuple[int, ...], t: np.ndarray
) -> tuple[float, dict[str, float]]:
    """The least lead at these times, and the drift of every plane that it allows."""
    p, W, b = len(labels), np.asarray(written.W_y), written.b_y
    cos, sin = table(p)
    # p/2 takes one unit, unless it was given a plane like the others.
    planes = written.dimension == 2 * len(frequencies)
    rows, starts = [], []
    for j in frequencies:
        starts.append(len(rows))
        rows.append(cos[j * t % p])
        if planes or 2 * j != p:
            rows.append(sin[j * t % p])
    phi = np.array(rows) if rows else np.zeros((written.dimension, len(t)))
    w, each = np.asarray(labels)[t], np.arange(len(t))
    y = W @ phi + b[:, None]
    size = np.abs(W) @ np.abs(phi) + np.abs(b)[:, None]
    lead = y[w, each] - y
    # What a unit of drift in each plane does to the difference of two logits.
    starts = starts or [0]
    gain = np.zeros((len(b), len(b)))
    for k in range(len(b)):
        gain[k] = np.sqrt(np.add.reduceat((W[k] - W) ** 2, starts, axis=1)).sum(axis=1)
    d = phi.shape[0]
    # Reading a state rounds too; the drift is kept below a half, so no unit exceeds 1.5.
    most = 1.5 * np.abs(W).sum(axis=1) + np.abs(b)
    wrong = np.ones_like(lead, dtype=bool)
    wrong[w, each] = False
    if not wrong.any():
        return float("inf"), dict.fromkeys(UNIT, float("inf"))
    sure = lead - (d + 6) * 2.0**-53 * (size[w, each] + size)
    allowed = {}
    for name, u in UNIT.items():
        left = sure - (d + 3) * u * (most[w] + most[:, None])
        pull = gain[w].T
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(pull > 0, left / pull, np.where(left > 0, np.inf, -1.0))
        allowed[name] = float(min(room[wrong].min(), 0.5))
    return float(sure[wrong].min()), allowed
