r"""For how many steps a written memory is right, and why.

Three proofs, each from the weights and the word alone:

- *exact*: weights and states are integers; one period is run in integers and
  returns. A floating type is exact as well while every sum stays below its
  $2^{24}$ or $2^{53}$.
- *drift*: planes that rotate by $2\pi j/p$ up to $\eta$ a step (weights and
  rounding) are within $(1 + \eta)^N - 1$ of the true walk after N steps; the
  readout's leads must outlast it.
- *attraction*: $\tanh(gPh)$ maps a box of half-width $\varepsilon$ round each state
  of the cycle into the next, rounding included, for ever.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .harmonics import table
from .structured import Cycle, Turns
from .written import columns, Written


FOREVER = math.inf
UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}
WHOLE = {"float32": 2**24, "float64": 2**53}
TANH_ERROR = 4.0
"""How far a library's tanh is assumed to err, in units in the last place of 1."""


@dataclasses.dataclass(frozen=True)
class Certificate:
    """`steps[dtype]` steps from the start are right; `inf` means for ever.

    `lead` is the least proved lead of the right logit on the true orbit.
    """

    kind: str
    lead: float
    steps: Mapping[str, float]
    evidence: Mapping[str, Any]

    @property
    def sentence(self) -> str:
        said = {
            name: "for ever" if math.isinf(n) else f"for {int(n):,} steps"
            for name, n in self.steps.items()
        }
        return f"proved by {self.kind}: " + "; ".join(
            f"{name} {text}" for name, text in said.items()
        )


def exact(written: Written, labels: tuple[int, ...], *, unit: int = 1) -> Certificate:
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
    h = _first_state(written)
    seat = np.flatnonzero(h)
    p, stride = written.W_h.size, written.W_h.stride
    if len(seat) != 1 or h[seat[0]] != 1 or p != len(labels) or written.W_h.gain != 1:
        raise ValueError("these weights do not turn one unit through all the others")
    seats = (seat[0] + stride * np.arange(p)) % p
    w, t = np.asarray(labels), np.arange(p)
    if isinstance(written.W_y, np.ndarray):
        y = written.W_y[:, seats] + written.b_y[:, None]
        right = y[w, t].copy()
        y[w, t] = np.iinfo(np.int64).min
        lead = int((right - y.max(axis=0)).min()) if len(y) > 1 else 1
    else:
        lead = int((np.asarray(written.W_y.symbols)[seats] == w).all())
    if math.gcd(stride, p) != 1 or lead <= 0:
        raise ValueError("these weights do not say the word")
    steps = dict.fromkeys(UNIT, FOREVER)
    return Certificate("exact arithmetic", float(lead), steps, {"largest_integer": 1})


def drift(
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
    h = _first_state(written)
    planes = written.dimension == 2 * len(frequencies)
    wanted = [
        x
        for j in frequencies
        for x in ([1.0] if 2 * j == p and not planes else [1.0, 0.0])
    ]
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
    planes = W_h.shape[0] == 2 * len(frequencies)
    kind = np.float32 if u > 1e-10 else np.float64
    for i, j in enumerate(frequencies):
        if isinstance(W_h, Turns):
            c, s = W_h.cos[i], W_h.sin[i]
        elif 2 * j == p and not planes:
            # A flip of sign is exact.
            if W_h[at, at] != -1:
                raise ValueError("the unit of frequency p/2 must flip its sign")
            at += 1
            continue
        else:
            c, s = W_h[at, at], W_h[at + 1, at]
            if W_h[at, at + 1] != -s or W_h[at + 1, at + 1] != c:
                raise ValueError("a plane of W_h is not a rotation")
            at += 2
        off = math.hypot(float(kind(c)) - cos[j % p], float(kind(s)) - sin[j % p])
        worst = max(worst, off + 2.0**-52)
    return 0.0 if worst == 0 else (worst + (1 + math.sqrt(2)) * u) * (1 + 1e-6)


def _reach(
    written: Written,
    labels: tuple[int, ...],
    frequencies: tuple[int, ...],
    t: np.ndarray,
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


def attraction(written: Written, labels: tuple[int, ...]) -> Certificate:
    """A box round the cycle that every rounded step maps into the next box."""
    p = len(labels)
    first = _first_state(written)
    a = float(first[0])
    if not (0 < a < 1 and (first[1:] == -a).all()):
        raise ValueError("the first state is not the pattern of the limit cycle")
    gain = float(
        written.W_h.gain if hasattr(written.W_h, "gain") else written.W_h.max()
    )
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


def _first_state(written: Written) -> np.ndarray:
    h = written.W_h @ written.h_0
    if written.W_x is not None:
        h = h + columns(written.W_x, written.inputs)[written.first]
    h = np.tanh(h) if written.activation == "tanh" else h
    # Equal up to rounding is meant to be equal: the box has room for it.
    return np.copysign(np.abs(h[0]), h) if np.ptp(np.abs(h)) < 1e-12 else h


def _leads(
    written: Written, labels: tuple[int, ...], a: float
) -> tuple[float, float, float]:
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
    apart = np.abs(W[:, None, :] - W[None, :, :]).sum(axis=2) if n <= 512 else 2 * p
    size = np.abs(W).sum(axis=1) + np.abs(b)
    return float(lead.min()), float(np.max(apart)), float(2 * size.max())


def digits(rooms: Sequence[float], base: int) -> dict[str, float]:
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
