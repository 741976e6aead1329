r"""Stacks: $\delta_l' \le \lambda_l\,\delta_l + g_l\,\delta_{l-1}'$ layer by layer.

The layers' distances, each in its own metric, obey a lower triangular comparison matrix $T$ whose
eigenvalues are the layers' rates; $g_l$ is a layer's input gain into its metric. So a stack contracts
whenever each layer does, at any rate above the worst, paid for in overshoot: $T v \le \lambda v$ is
checked. Below a layer whose proof needs a bound on its inputs, the states are kept in an invariant
set from which no output leaves that bound: the domain is the product of these sets.
"""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from .metric import ALL_STATES, Domain, euclidean, Norm, Proof, weighted_proof
from .record import best, Bounds, Contraction
from .rounding import above


PARTS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
"""The rates tried lie so far on the way from the worst layer's to 1."""
LEAST = (1.0, 0.1, 1e-3)
"""The weight of a layer that hardly reads the others, beside that of the first."""


def stack_certificate(layers: Sequence[Contraction], units: int) -> Contraction:
    """From the certificates of the layers, each for what it reads; vacuous where the last one is."""
    worst = max(layers, key=lambda proof: proof.rate)
    bound, gain, rest = layers[0].input_bound, math.inf, math.inf
    proof, domain = Proof(worst.rate, math.inf, euclidean(units)), ALL_STATES
    if worst.rate < 1:
        T, domain = np.diag([proof.rate for proof in layers]), _domain(layers)
        for row, proof in enumerate(layers[1:], start=1):
            into = above(proof.overshoot * proof.evidence["euclidean_gain"], 1)
            T[row, :row] = above(into * T[row - 1, :row], 1)
        rates = [worst.rate + part * (1 - worst.rate) for part in PARTS]
        proofs = [_proof_at(layers, T, rate, least) for rate in rates for least in LEAST]
        proof = min(proofs, key=lambda proof: proof.patience)
        gain, rest = _total_gains(layers)
    return best(
        {worst.metric: proof},
        Bounds(bound, gain, math.inf, rest, domain),
        untried={k: v for p in layers for k, v in p.evidence["untried"].items()},
        limit=max(proof.limit for proof in layers),
        layers=tuple(layers),
    )


def _proof_at(layers: Sequence[Contraction], T: np.ndarray, rate: float, least: float) -> Proof:
    """Weights with T v at most rate v, by substitution from the first layer."""
    v = least * np.array([proof.overshoot for proof in layers])
    v[0] = layers[0].overshoot
    for row in range(1, len(T)):
        v[row] = max((T[row, :row] @ v[:row]) / (rate - T[row, row]), v[row])
    proof = weighted_proof(v, T)
    w = proof.norm.weights
    overshoot = above(float(np.max([p.overshoot for p in layers] / w)), 1)
    reach = above(float(np.max([p.reach for p in layers] / w)), 1)
    norm = Norm("maximum", w, tuple(p.evidence["norm"] for p in layers))
    return Proof(proof.rate, overshoot, norm, reach=reach)


def _domain(layers: Sequence[Contraction]) -> Domain:
    """The product of the layers' sets, the lower ones such that the upper read enough."""
    needed, balls = False, []
    start = sum(proof.evidence["norm"].size for proof in layers)
    for layer, proof in reversed(list(enumerate(layers, start=1))):
        start -= proof.evidence["norm"].size
        own = proof.evidence["output_domain"] if needed else proof.domain
        place = {"start": start, "layer": layer}
        balls = [dataclasses.replace(ball, **place) for ball in own.balls] + balls
        needed = needed or proof.evidence["needs_input_bound"]
    return Domain(tuple(balls))


def _total_gains(layers: Sequence[Contraction]) -> tuple[float, float]:
    """Euclidean bounds on what a unit input and an empty one do in one step from zero."""
    gain, rest, gains, rests = 0.0, 0.0, [], []
    for layer, proof in enumerate(layers):
        through = proof.evidence["euclidean_gain"]
        gain = above(through * gain, 1) if layer else proof.input_gain
        rest = above(through * rest + proof.at_rest, 2)
        gains.append(gain)
        rests.append(rest)
    total = lambda parts: above(math.hypot(*parts), 2 * len(parts) + 2)
    return total(gains), total(rests)
