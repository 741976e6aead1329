r"""A certificate: $\|\phi^k(h) - \phi^k(h')\|_2 \le C\,\lambda^k\,\|h - h'\|_2$ for every $k$.

Inputs are the same on both sides and stay within `input_bound`; both states are in
`domain`, which they then never leave. The statement is about the map in real numbers,
with the weights taken as the exact numbers that are stored.
"""

import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ..._show import html_table
from .metric import ALL_STATES, Ball, Domain, Proof
from .rounding import above


METRICS = ("norm", "infinity", "diagonal", "full", "lyapunov")


class Contraction(eqx.Module):
    """`phi` shrinks distances by `rate` per step in the given metric, on its domain.

    Distances in the metric lie between the Euclidean one and `overshoot` times it.
    """

    rate: float
    """The proved factor per step; at 1 or above the certificate is vacuous."""
    overshoot: float
    """C, how far the Euclidean distance may grow before it shrinks."""
    metric: str
    """norm, infinity, diagonal, full or lyapunov."""
    domain: Domain
    """The states that the certificate speaks of: all, or a stated set round zero."""
    input_gain: float
    """L_x: a change of x by 1 in its largest component moves phi(h, x) by at most
    this, in the Euclidean norm."""
    input_bound: float | None
    """B_x: every component of every input lies between plus and minus this, which
    inputs of Euclidean norm up to B_x do; None: any input."""
    at_rest: float
    """An upper end of the norm of phi(0, 0), which Lemma 1 needs where it is not 0."""
    reach: float
    """A state in the orbit of zero, and the zero state in its place, are at most
    this far apart after zero steps, overshoot included: the gap of a window of k
    steps is at most `reach * rate**k`. Infinite where no bound is known."""
    limit: float
    """No certificate in any fixed metric can show a rate below this (a spectral
    radius that the slopes allow); 0 where it was not looked for."""
    verified: bool
    """Whether our own arithmetic, rounding counted, has confirmed every inequality."""
    evidence: Mapping[str, Any]
    """The norm itself, the metrics tried with their rates, those not tried and why."""

    @property
    def vacuous(self) -> bool:
        """Whether the certificate proves nothing about the past being forgotten."""
        return not (self.verified and self.rate < 1)

    def __str__(self) -> str:
        where = "" if self.input_bound is None else f"|x| up to {self.input_bound:g}, "
        where = f"for {where}{self.domain}"
        if self.vacuous:
            return f"vacuous: no metric tried proves a contraction, {where} (best {self.rate:.4g})"
        known = f"{self.rate:.4g} per step in the {self.metric} metric"
        return f"contracts by {known}, overshoot {self.overshoot:.3g}, {where}"

    def _repr_html_(self) -> str:
        rows = [
            ("rate", f"{self.rate:.6g} a step"),
            ("overshoot", f"{self.overshoot:.4g}"),
            ("metric", self.metric),
            ("states", str(self.domain)),
            ("inputs", "any" if self.input_bound is None else f"|x| up to {self.input_bound:g}"),
            ("verified", "yes" if self.verified else "no"),
        ]
        return html_table("proves nothing" if self.vacuous else "contracts", rows)


@dataclasses.dataclass(frozen=True)
class Request:
    """What a certificate is asked for."""

    input_bound: float | None
    metric: str
    """One of `METRICS`, or "auto" for all that the cell has."""
    deadline: float
    slopes: tuple[float, float] | None

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
    """A bound on the components of what the next layer reads"""
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
    output, output_domain = bounds.output, bounds.output_domain
    if (radius := _orbit_radius(proof, bounds)) < output:
        # The ball is invariant: what a step adds is at most what it takes away.
        output = radius
        output_domain = Domain((*bounds.domain.balls, Ball(proof.norm, radius)))
    details = {key: value for p in proofs.values() for key, value in p.details.items()}
    tried = {
        key: {"rate": p.rate, "overshoot": p.overshoot, "reach": _reach(p, bounds)}
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
        reach=tried[name]["reach"],
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
    by_radius = above(proof.overshoot * bounds.radius, 1)
    found = [proof.reach, _orbit_radius(proof, bounds), by_radius]
    box, weights = bounds.box, proof.norm.weights
    if box is not None and proof.norm.kind == "maximum":
        found.append(above(float(np.max(box / weights)), 2))
    elif box is not None and np.ndim(weights) == 1:
        found.append(above(float(np.linalg.norm(box * weights)), len(box) + 2))
    return float(min(found))
