r"""The document's own training: $m \leftarrow 0.9\,m + \nabla\ell$, $w \leftarrow w - \eta m$.

Its loss is $\ell = \sum (\text{masked difference})^2 / |T| = 2D\Lambda$, in float32,
and it looks at the loss only once in a thousand steps.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..._precision import as_double, double
from .language_pairs import Mask
from .pair_gradient import gradient, loss, Packed, packed
from .pair_training import (
    check_runs,
    Ending,
    finished_lanes,
    fit_record,
    over_lanes,
    PairFit,
    PairRun,
    Precision,
)


class MomentumState(NamedTuple):
    """One lane: weights, momenta, the pairs taught, steps done and the last loss."""

    weights: Packed
    momenta: Packed
    T: Float[Array | np.ndarray, "*lanes outputs inputs"]
    steps: Int[Array | np.ndarray, "*lanes"]
    loss: Float[Array | np.ndarray, "*lanes"]


@functools.lru_cache(maxsize=32)
def _program(mask: Mask, rate: float, momentum: float, every: int):
    def advance(lane: MomentumState) -> MomentumState:
        # The gradient is linear in T, so the loss's factor goes in there once.
        T = (2.0 / jnp.sum(lane.T)) * lane.T

        def step(carry, _):
            w, m = carry
            m = jax.tree.map(lambda g, m: g + momentum * m, gradient(w, T, mask), m)
            return (jax.tree.map(lambda w, m: w - rate * m, w, m), m), None

        # Two steps an iteration: the buffers of old and new weights then change
        # places instead of being copied.
        (w, m), _ = jax.lax.scan(step, (lane.weights, lane.momenta), None, length=every, unroll=2)
        price = loss(w, lane.T, mask)
        return MomentumState(w, m, lane.T, lane.steps + every, price)

    return over_lanes(advance)


def _check_first_step(run: PairRun, mask: Mask, length: float, precision: Precision) -> None:
    """Refuse a start whose steps, half a unit in a weight's last place, would be rounded away."""
    with double():
        w = as_double(packed(run.net, mask))
        g = gradient(w, jnp.asarray(run.T), mask)
        # Weights that float32 drew as zeros move by 0/0, which no precision survives.
        with np.errstate(divide="ignore", invalid="ignore"):
            moves = [np.abs(np.asarray(dw) / np.asarray(a)) for dw, a in zip(g, w, strict=True)]
    median = np.median(np.concatenate([m.ravel() for m in moves]))
    if not length * 2.0 / run.T.sum() * median > np.finfo(precision).eps / 4:
        raise ValueError(
            f"sigma is so small that SGD's steps are rounded away in {precision}; "
            "follow the flow instead, which takes longer ones"
        )


def momentum_sgd(
    runs: Sequence[PairRun],
    *,
    mask: Mask,
    stop: float,
    rate: float = 5e-3,
    momentum: float = 0.9,
    every: int = 1_000,
    limit: int = 500_000,
    width: int = 4,
    precision: Precision = "float32",
) -> Iterator[tuple[int, PairFit]]:
    r"""Train as the document did; each run is yielded when it is done.

    `stop` is $\Lambda$ (the document's own $10^{-6}$ is $10^{-6}/2D$).
    """
    check_runs(runs, mask=mask, stop=stop, precision=precision)
    length = rate / (1 - momentum)
    for run in runs:
        _check_first_step(run, mask, length, precision)

    def start(i: int) -> MomentumState:
        number = lambda value: np.asarray(value, dtype=precision)
        w = jax.tree.map(number, packed(runs[i].net, mask))
        still = jax.tree.map(np.zeros_like, w)
        return MomentumState(w, still, number(runs[i].T), np.zeros((), np.int32), number(1.0))

    def advance(batch: MomentumState):
        moved = _program(mask, rate, momentum, every)(batch)
        # `not above` is also true of NaN: a lane that burst is done.
        return moved, ~(moved.loss >= stop) | (moved.steps >= limit)

    places = {"start": start, "advance": advance, "width": width, "precision": precision}
    for i, lane in finished_lanes(len(runs), **places):
        ending: Ending = "converged" if lane.loss < stop else "out of steps"
        if not np.isfinite(lane.loss):
            ending = "diverged"
        time = lane.steps * length * 2 * runs[i].net.sizes[1]
        yield i, fit_record(lane.weights, runs[i], mask, ending, steps=lane.steps, time=time)
