r"""Walks that turn, in floating point: within $(1 + \eta)^N - 1$ of the true walk after N steps.

$\eta$ bounds what weights and rounding do to a plane in a step. A walk of rotations by $2\pi j/p$ goes
on until the readout's leads are used up. A string that is read once, $h_t = W_h^t h_0$ with any
eigenvalues $z$, is within $((1 + \eta)^t - 1)|z|^t$ of its place until `<END>` is said.
"""

import math
from typing import Any

import numpy as np

from ..constructions.rotations import block_diagonal
from ..harmonics import table
from ..written import Labels, leads, Written
from .certificate import Certificate, first_state, FOREVER, same, UNIT


TINY = 2.0**-100  # far above what underflow, in float32 too, does to a sum of a million terms


def planes(W_h: Any) -> tuple[list[int], list[complex]]:
    """Where each block of a block-diagonal W_h begins, and its eigenvalue: single units,
    and planes that turn and stretch."""
    d, at, starts, found = W_h.shape[0], 0, [], []
    along, below = W_h.diagonal(), np.append(W_h.diagonal(-1), 0.0)
    while at < d:
        starts.append(at)
        found.append(complex(along[at], below[at]))
        at += 2 if below[at] else 1
    if at > d or not same(W_h, block_diagonal(found)):
        raise ValueError("W_h is not made of planes and single units")
    return starts, found


def pulls(W: np.ndarray, starts: list[int]) -> np.ndarray:
    """What a unit of drift in each plane does to the difference of any two logits."""
    return np.array([np.sqrt(np.add.reduceat((row - W) ** 2, starts, axis=1)) for row in W])


def drift_certificate(written: Written, labels: Labels) -> Certificate:
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
    written: Written, labels: Labels, starts: list[int], turns: list[int], begin: np.ndarray
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


def reading_certificate(written: Written, labels: Labels) -> Certificate:
    """For how many steps of one reading every symbol leads, rounding included."""
    W, b = written.W_y, written.b_y
    starts, z = planes(written.W_h)
    h_1, T = first_state(written), np.arange(len(labels))
    phi = np.zeros((len(h_1), len(T)))
    for i, x, end in zip(starts, z, [*starts[1:], len(h_1)], strict=True):
        begin = complex(h_1[i], h_1[i + 1] if end == i + 2 else 0.0)
        powers = begin * np.array([x ** int(t) for t in T])
        phi[i:end] = [powers.real, powers.imag][: end - i]
    w = np.asarray(labels)
    reach = np.abs(W) @ np.abs(phi) + np.abs(b)[:, None]
    reach = reach + reach[w, T]
    lead = leads(W @ phi + b[:, None], w) - (len(W.T) + 2 * T + 10) * UNIT["float64"] * reach
    sizes = np.sqrt(np.add.reduceat(phi**2, starts))
    moved = np.einsum("tkj,jt->kt", pulls(W, starts)[w], sizes)
    steps = {}
    for name, u in UNIT.items():
        # Weights and the start rounded to the type, two products and a sum a step.
        drift = np.expm1((T + 2) * math.log1p((2 + math.sqrt(2)) * u * 1.001))
        room = lead - drift * moved - (len(W.T) + 5) * u * (1 + drift) * reach - TINY
        steps[name] = float(np.append((~(room > 0)).any(axis=0), True).argmax())
    evidence = {"eigenvalues": [str(x) for x in z]}
    return Certificate("margin over one reading", float(lead.min()), steps, evidence)
