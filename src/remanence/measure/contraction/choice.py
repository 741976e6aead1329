"""Of the rungs that prove something, the one that forgets soonest, as a record."""

import math

import numpy as np

from .lure import Rung
from .record import Contraction
from .rounding import above


def recorded(
    rungs, untried, gains, bound, rest, box, radius, said, limit, extra
) -> Contraction:
    """The record of the rung that forgets soonest; the others go into the evidence."""
    best = min(rungs, key=lambda name: _patience(rungs[name]))
    reaches = {
        name: _reach(rung, gains[0], bound, rest, box, radius)
        for name, rung in rungs.items()
    }
    rung = rungs[best]
    summary = {
        name: {"rate": r.rate, "overshoot": r.overshoot, "reach": reaches[name]}
        for name, r in rungs.items()
    }
    if rung.rate < 1 and bound is not None:
        # The orbit of zero is no larger than its reach, in every component.
        said = min(said, reaches[best])
    evidence = {
        "kind": rung.kind,
        "weights": rung.weights,
        "rungs": summary,
        "untried": untried,
        "euclidean_gain": gains[1],
        "output_bound": said,
        **{name: value for r in rungs.values() for name, value in r.details.items()},
        **extra,
    }
    return Contraction(
        rate=float(rung.rate),
        steps=1,
        overshoot=float(rung.overshoot),
        metric=best,
        input_gain=float(gains[0]),
        input_bound=bound,
        at_rest=float(rest),
        reach=float(reaches[best]),
        limit=float(limit),
        verified=bool(np.isfinite(rung.rate)),
        evidence=evidence,
    )


def _patience(rung: Rung) -> tuple[float, float]:
    """The steps that shrink a gap a millionfold; vacuous rungs come last, by rate."""
    if not rung.rate < 1:
        return math.inf, rung.rate
    shrinks = -math.log(max(rung.rate, 1e-300))
    return math.log(1e6 * rung.overshoot) / shrinks, rung.rate


def _reach(rung: Rung, gain, bound, rest, box, radius) -> float:
    """The largest metric distance between zero and a state that its orbit can visit."""
    found = [above(rung.overshoot * radius, 1)]
    if box is not None and rung.kind == "maximum":
        found.append(above(float(np.max(box / rung.weights)), 2))
    elif box is not None and np.ndim(rung.weights) == 1:
        found.append(above(float(np.linalg.norm(box * rung.weights)), len(box) + 2))
    if bound is not None and rung.rate < 1:
        # Lemma 1, with phi(0, 0) and the metric's overshoot counted.
        pushed = above(gain * bound + rest, 2) / (1 - rung.rate)
        found.append(above(rung.overshoot * pushed, 4))
    return float(min(found))
