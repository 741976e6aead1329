r"""For how many steps a written memory is right, proved from the weights and the word alone.

*Integers*: one period is run exactly, $h_{t+p} = h_t$, and returns. A floating type is exact as well
while every sum stays below its $2^{24}$ or $2^{53}$. The shift map is exact in units of
$1/(n^p - 1)$; in floating point its digits run out. *Attraction*: $\tanh(gPh)$ maps a box of
half-width $\varepsilon$ round each state of its cycle into the next, rounding included, so the memory
holds for ever from anywhere inside. Walks that turn are in `rotation_drift`.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..constructions.permutation import cycle
from ..written import Labels, leads, Written


FOREVER = math.inf
UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}
WHOLE = {"float32": 2**24, "float64": 2**53}
TANH_ERROR = 4.0  # how far a library's tanh is assumed to err, in units in the last place of 1
WIDEST = 0.01  # the half-width of the largest box that is tried


@dataclasses.dataclass(frozen=True)
class Certificate:
    """`steps[dtype]` steps from the start are right (`inf`: for ever); `lead` is the least proved
    lead of the right logit on the true orbit."""

    kind: str
    lead: float
    steps: Mapping[str, float]
    evidence: Mapping[str, Any]

    @property
    def sentence(self) -> str:
        said = (
            f"{name} for ever" if math.isinf(n) else f"{name} for {int(n):,} steps"
            for name, n in self.steps.items()
        )
        return f"proved by {self.kind}: " + "; ".join(said)


def first_state(written: Written) -> np.ndarray:
    """$h_1$, after whatever is read first."""
    return next(written.run(1))[0]


def same(A: Any, B: Any) -> bool:
    """Whether two matrices, dense or sparse, hold the same numbers."""
    return A.shape == B.shape and not abs(A - B).max()


def _period(written: Written, labels: Labels) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The states of one period in integers, each with the leads of its symbol; refused if
    another symbol is said or the first state does not return."""
    states, first = (h for h, _ in written.run(len(labels) + 1)), None
    for t, (label, h) in enumerate(zip(labels, states, strict=False)):
        first = h if first is None else first
        y = written.W_y @ h + written.b_y
        ahead = np.delete(y[label] - y, label)
        if not (ahead > 0).all():
            raise ValueError(f"these weights do not say symbol {label} at step {t + 1}")
        yield h, ahead
    if not (next(states) == first).all():
        raise ValueError("these weights do not return after one period")


def exact_certificate(written: Written, labels: Labels) -> Certificate:
    """One period in integers, and the largest number in it."""
    W_h, W_y, b_y = (abs(A.astype(float)) for A in (written.W_h, written.W_y, written.b_y))
    inputs = 0.0 if written.W_x is None else float(abs(written.W_x.astype(float)).max())

    def largest_after(h: np.ndarray) -> float:
        # In floating point: integers of 64 bits wrap without a word.
        reach = W_h @ abs(h.astype(float)) + inputs
        found = max(float(reach.max()), float((W_y @ reach + b_y).max()))
        if found > 2.0**62:
            raise ValueError("the weights reach integers of more than 62 bits")
        return found

    lead, largest = math.inf, largest_after(written.h_0)
    for h, ahead in _period(written, labels):
        lead = min([lead, *map(float, ahead)])
        largest = max(largest, largest_after(h))
    # The sizes may have been rounded down, by less than their number of terms.
    largest *= 1 + written.dimension * 2.0**-50
    steps = {name: FOREVER if largest <= top else 0.0 for name, top in WHOLE.items()}
    return Certificate("exact arithmetic", lead, steps, {"largest_integer": int(largest)})


def shift_certificate(written: Written, labels: Labels, unit: int) -> Certificate:
    """The shift map in integers of size 1/unit for one period, and the steps that it
    survives in floating point: errors grow by the base until they reach a lead."""
    base, W_y = int(written.W_h[0, 0]), written.W_y[:, 0]
    lead, margin, orbit = math.inf, math.inf, []
    for ((h,), ahead), label in zip(_period(written, labels), labels, strict=True):
        slopes = abs(np.delete(W_y[label] - W_y, label))
        lead = min([lead, *(ahead / unit)])
        margin = min([margin, *(ahead[slopes > 0] / (slopes[slopes > 0] * unit))])
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


def attraction_certificate(written: Written, labels: Labels) -> Certificate:
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


def _least_lead(written: Written, labels: Labels, a: float) -> float:
    """On the sign patterns: the one at t is -a everywhere, but for +a at unit t."""
    W, b, found = written.W_y, written.b_y, math.inf
    rest, chunk = b - a * np.asarray(W.sum(axis=1)).ravel(), max(1, (1 << 22) // len(b))
    for t in range(0, len(labels), chunk):
        part = W[:, t : t + chunk]
        y = rest[:, None] + 2 * a * (part if isinstance(part, np.ndarray) else part.toarray())
        found = min(found, float(leads(y, labels[t : t + chunk]).min()))
    return found
