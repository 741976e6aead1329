r"""Rotations in floating point: after N steps within $(1 + \eta)^N - 1$ of the true walk.

$\eta$ bounds what weights and rounding do to a plane that turns by $2\pi j/p$; the
readout's leads must outlast it.
"""

import math

import numpy as np

from ..harmonics import table
from ..written import leads, Written
from .certificate import Certificate, first_state, FOREVER, planes, pulls, TINY, UNIT


def drift_certificate(written: Written, labels: tuple[int, ...]) -> Certificate:
    """How long rotating planes stay within the leads of the readout."""
    p, (starts, values) = len(labels), planes(written.W_h)
    turns = [round(math.atan2(z.imag, z.real) * p / (2 * math.pi)) % p for z in values]
    first = first_state(written)
    begin = np.zeros(len(first))
    begin[starts] = 1.0
    # A single unit keeps its sign or changes it, and may have any size.
    single = [i for i, z in zip(starts, values, strict=True) if not z.imag]
    begin[single] = first[single]
    start = float(np.sqrt(np.add.reduceat((first - begin) ** 2, starts)).max())
    if start > 1e-6 or np.abs(begin).max() > 1:
        raise ValueError("the first state is not where the walk begins")
    lead, allowed = _allowed_drift(written, labels, starts, turns, begin)
    steps, evidence = {}, {"frequencies": sorted({min(j, p - j) for j in turns} - {0})}
    for name, u in UNIT.items():
        eta = max(
            _step_error(z, j, begin[i], p, u) for z, j, i in zip(values, turns, starts, strict=True)
        )
        evidence |= {f"error_per_step_{name}": eta, f"allowed_drift_{name}": allowed[name]}
        # The start and the weights of the first step are rounded, too.
        left = math.log1p(max(allowed[name], 0.0)) - math.log1p(start + 4 * u)
        steps[name] = 0.0 if not left > 0 else FOREVER
        if eta > 0 and 0 < left < math.inf:
            steps[name] = float(math.floor(left / math.log1p(eta)))
    return Certificate("margin against drift", lead, steps, evidence)


def _step_error(z: complex, j: int, size: float, p: int, u: float) -> float:
    """A plane's distance from its rotation, plus the rounding of one step: each component
    is two products and a sum, $(1 + \\sqrt 2) u$ of the plane's norm."""
    cos, sin = table(p)
    if not z.imag:
        # Keeping or changing the sign is exact, and so is resting at zero.
        if z.real != cos[j] and size:
            raise ValueError("a single unit must keep its size")
        return 0.0
    kind = np.float32 if u > 1e-10 else np.float64
    off = math.hypot(float(kind(z.real)) - cos[j], float(kind(z.imag)) - sin[j])
    return (off + 2.0**-52 + (1 + math.sqrt(2)) * u) * (1 + 1e-6)


def _allowed_drift(
    written: Written,
    labels: tuple[int, ...],
    starts: list[int],
    turns: list[int],
    begin: np.ndarray,
) -> tuple[float, dict[str, float]]:
    """The least lead, and the drift of every plane that the leads allow."""
    p, W, b, d = len(labels), written.W_y, written.b_y, len(begin)
    pull = pulls(W, starts).sum(axis=2)
    # Reading a state rounds too; the drift is kept below a half, so no unit exceeds 1.5.
    most = 1.5 * np.abs(W).sum(axis=1) + np.abs(b)
    least, allowed = math.inf, dict.fromkeys(UNIT, math.inf)
    chunk = max(1, (1 << 22) // max(d, len(W)))
    for t in np.split(np.arange(p), range(chunk, p, chunk)):
        phi = np.zeros((d, len(t)))
        for i, j, end in zip(starts, turns, [*starts[1:], d], strict=True):
            waves = [wave[j * t % p] for wave in table(p)]
            phi[i:end] = begin[i] * waves[0] if end == i + 1 else waves
        w = np.asarray(labels)[t]
        size = np.abs(W) @ np.abs(phi) + np.abs(b)[:, None]
        slack = (d + 6) * UNIT["float64"] * (size[w, np.arange(len(t))] + size)
        lead = leads(W @ phi + b[:, None], w) - slack
        least = min(least, float(lead.min()))
        for name, u in UNIT.items():
            left = lead - (d + 3) * u * (most[w] + most[:, None]) - TINY
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(pull[w].T > 0, left / pull[w].T, np.where(left > 0, np.inf, -1.0))
            allowed[name] = min(allowed[name], float(room.min()))
    return least, {name: x if math.isinf(x) else min(x, 0.5) for name, x in allowed.items()}
