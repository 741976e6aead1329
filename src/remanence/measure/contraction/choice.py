"""The metrics that are tried, and of those that prove something the one that forgets soonest."""

import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Float

from .metric import ALL_STATES, Ball, Domain, Proof
from .record import Contraction
from .rounding import above
from .slopes import Slopes


METRICS = ("norm", "infinity", "diagonal", "full", "lyapunov")


@dataclasses.dataclass(frozen=True)
class Request:
    """What a certificate is asked for."""

    input_bound: float | None
    metric: str
    """One of `METRICS`, or "auto" for all that the cell has."""
    deadline: float
    slopes: Slopes | None

    def try_metrics(
        self, ways: Mapping[str, Callable[[], Proof | None]], kind: str
    ) -> tuple[dict[str, Proof], dict[str, str]]:
        """The proofs found in the metrics asked for, and why others are missing."""
        if self.metric not in ("auto", *ways):
            raise ValueError(f"no {self.metric} metric is known for {kind}; try {', '.join(ways)}")
        proofs, untried = {}, {}
        for name in ways if self.metric == "auto" else (self.metric,):
            if time.monotonic() > self.deadline:
                untried[name] = "the time limit had passed"
            elif (proof := ways[name]()) is None:
                untried[name] = "found no metric that our arithmetic confirms"
            else:
                proofs[name] = proof
        if not proofs and (simplest := ways["norm"]()) is not None:
            proofs["norm"] = simplest
        return proofs, untried


@dataclasses.dataclass(frozen=True)
class Bounds:
    """What holds of a cell's inputs, states and outputs, whatever the metric."""

    input_bound: float | None
    input_gain: float
    euclidean_gain: float
    """The largest change of the state, both in the Euclidean norm, for a unit change of x."""
    at_rest: float = 0.0
    domain: Domain = ALL_STATES
    """The states for which the proofs hold."""
    box: Float[np.ndarray, " state"] | None = None
    """The orbit of zero stays within these components,"""
    radius: float = math.inf
    """and so far from zero in the Euclidean norm."""
    output: float = math.inf
    """A bound on the components of what the next layer hears"""
    output_domain: Domain = ALL_STATES
    """for states from this invariant set."""
    needs_input_bound: bool = False
    """Whether the proofs need the bound on inputs."""


def best(
    proofs: dict[str, Proof],
    bounds: Bounds,
    *,
    untried: Mapping[str, str] = MappingProxyType({}),
    limit: float = 0.0,
    **evidence: Any,
) -> Contraction:
    """The record of the proof that forgets soonest; the others go into the evidence."""
    name = min(proofs, key=lambda name: (proofs[name].patience, proofs[name].rate))
    proof = proofs[name]
    reaches = {name: _reach(proof, bounds) for name, proof in proofs.items()}
    output, output_domain = bounds.output, bounds.output_domain
    if (radius := _orbit_radius(proof, bounds)) < output:
        # The ball is invariant: what a step adds is at most what it takes away.
        output = radius
        output_domain = Domain((*bounds.domain.balls, Ball(proof.norm, radius)))
    details = {key: value for p in proofs.values() for key, value in p.details.items()}
    tried = {
        key: {"rate": p.rate, "overshoot": p.overshoot, "reach": reaches[key]}
        for key, p in proofs.items()
    }
    return Contraction(
        rate=float(proof.rate),
        overshoot=float(proof.overshoot),
        metric=name,
        domain=bounds.domain,
        input_gain=float(bounds.input_gain),
        input_bound=bounds.input_bound,
        at_rest=float(bounds.at_rest),
        reach=reaches[name],
        limit=float(limit),
        verified=bool(np.isfinite(proof.rate)),
        evidence={
            "norm": proof.norm,
            "metrics": tried,
            "untried": untried,
            "euclidean_gain": bounds.euclidean_gain,
            "output_bound": output,
            "output_domain": output_domain,
            "needs_input_bound": bounds.needs_input_bound,
            **details,
            **evidence,
        },
    )


def _orbit_radius(proof: Proof, bounds: Bounds) -> float:
    """Lemma 1's radius, with phi(0, 0) and the metric's overshoot counted."""
    if bounds.input_bound is None or not proof.rate < 1:
        return math.inf
    push = above(bounds.input_gain * bounds.input_bound + bounds.at_rest, 2)
    return above(proof.overshoot * push / (1 - proof.rate), 4)


def _reach(proof: Proof, bounds: Bounds) -> float:
    """The largest distance in the metric between zero and a state that its orbit can visit."""
    found = [proof.reach, _orbit_radius(proof, bounds)]
    found.append(above(proof.overshoot * bounds.radius, 1))
    box, weights = bounds.box, proof.norm.weights
    if box is not None and proof.norm.kind == "maximum":
        found.append(above(float(np.max(box / weights)), 2))
    elif box is not None and np.ndim(weights) == 1:
        found.append(above(float(np.linalg.norm(box * weights)), len(box) + 2))
    return float(min(found))
