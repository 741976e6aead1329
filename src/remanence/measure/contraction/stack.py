r"""Cascades: $\delta_l' \le \lambda_l\,\delta_l + g_l\,\delta_{l-1}'$ layer by layer.

The distances of the layers, each in its own metric, obey a lower triangular
comparison matrix $T$ whose eigenvalues are the layers' rates; $g_l$ is a layer's
input gain into its metric. So a stack contracts whenever each layer does, at any
rate above the worst, paid for in overshoot: $T v \le \lambda v$ is checked.
"""

import math
import time

import numpy as np

from ...cells import Stack
from .ladder import contraction
from .record import Contraction
from .rounding import above, growth_above


def stacked(
    cell: Stack, bound: float | None, metric: str, deadline: float, slopes, solver
) -> Contraction:
    """The certificate of a stack from those of its layers."""
    layers: list[Contraction] = []
    heard = bound
    for layer, each in enumerate(cell.cells):
        left = max(deadline - time.monotonic(), 0.1) / (len(cell.cells) - layer)
        proof = contraction(
            each,
            input_bound=heard,
            metric=metric,
            time_limit=left,
            slopes=slopes,
            solver=solver,
        )
        layers.append(proof)
        said = proof.evidence["output_bound"]
        heard = said if math.isfinite(said) else None
    if len(layers) == 1:
        return layers[0]
    worst = max(proof.rate for proof in layers)
    shared = {
        "layers": tuple(layers),
        "untried": {k: v for p in layers for k, v in p.evidence["untried"].items()},
        "output_bound": layers[-1].evidence["output_bound"],
        "euclidean_gain": math.inf,
    }
    limit = max(proof.limit for proof in layers)
    name = max(layers, key=lambda proof: proof.rate).metric
    if not worst < 1:
        evidence = {
            "kind": "stack",
            "weights": np.ones(len(layers)),
            "rungs": {},
        } | shared
        return Contraction(
            worst, 1, math.inf, name, math.inf, bound, math.inf, math.inf, limit, False,
            evidence,
        )  # fmt: skip
    T = _transfer(layers)
    best, soonest = None, math.inf
    for part in (0.02, 0.05, 0.1, 0.2, 0.4, 0.7):
        v = _weights(T, worst + part * (1 - worst))
        rate = growth_above(T, v)
        # Layer metrics are at least Euclidean, so |v| bounds the way back.
        each = [proof.overshoot / w for proof, w in zip(layers, v, strict=True)]
        overshoot = above(float(np.linalg.norm(v) * max(each)), len(v) + 4)
        if rate < 1:
            shrinks = math.log(1e6 * overshoot) / -math.log(rate)
            if shrinks < soonest:
                best, soonest = (rate, overshoot, v), shrinks
    assert best is not None
    rate, overshoot, v = best
    far = max(proof.reach / w for proof, w in zip(layers, v, strict=True))
    reach = above(float(np.linalg.norm(v) * far), len(v) + 4)
    gain, rest = _accumulated(layers)
    rungs = {name: {"rate": rate, "overshoot": overshoot, "reach": reach}}
    evidence = {"kind": "stack", "weights": v, "rungs": rungs} | shared
    return Contraction(
        rate, 1, overshoot, name, gain, bound, rest, reach, limit, True, evidence
    )


def _transfer(layers: list[Contraction]):
    """The distances after a step from those before it, layer by layer, rounded up."""
    size = len(layers)
    T = np.zeros((size, size))
    for row, proof in enumerate(layers):
        if row:
            into = above(proof.overshoot * proof.evidence["euclidean_gain"], 1)
            T[row] = above(into * T[row - 1], 1)
        T[row, row] = proof.rate
    return T


def _weights(T, rate: float):
    """Positive weights with T v at most rate v, by substitution from the first layer."""
    v = np.ones(len(T))
    for row in range(1, len(T)):
        v[row] = max((T[row, :row] @ v[:row]) / (rate - T[row, row]), 1e-9 * v[row - 1])
    return v


def _accumulated(layers: list[Contraction]) -> tuple[float, float]:
    """Euclidean bounds on what a unit input and an empty one do in one step from zero."""
    gain = rest = total_gain = total_rest = 0.0
    for layer, proof in enumerate(layers):
        through = proof.evidence["euclidean_gain"]
        gain = proof.input_gain if layer == 0 else above(through * gain, 1)
        rest = proof.at_rest if layer == 0 else above(through * rest + proof.at_rest, 2)
        total_gain += gain**2
        total_rest += rest**2
    return above(math.sqrt(total_gain), 8), above(math.sqrt(total_rest), 8)
