r"""Gradient descent with a safe step: $w \leftarrow w - \eta\nabla\Lambda$, $\eta \le 0.9/\hat\lambda$.

$\hat\lambda$ is the largest curvature $|\lambda(\nabla^2\Lambda)|$, followed by power
iteration. A chunk of steps counts only if the loss did not rise beyond rounding and
the curvature did not double meanwhile; otherwise it is taken back and tried with half
the step. So the descent stays near the flow where that moves fast, and away from the
oscillation of a step that is too long.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from .batch_lanes import finished_lanes, over_lanes
from .gated_linear import smallest_scale
from .language_pairs import Mask
from .pair_gradient import loss, loss_gradient, Packed, packed
from .pair_training import as_fit, checked_runs, Ending, PairFit, PairRun, weight_size


class DescentState(NamedTuple):
    """One lane: the weights, the steepest direction, its curvature and the step."""

    weights: Packed
    steepest: Packed
    curvature: Float[Array | np.ndarray, "*lanes"]
    step: Float[Array | np.ndarray, "*lanes"]
    loss: Float[Array | np.ndarray, "*lanes"]
    time: Float[Array | np.ndarray, "*lanes"]
    steps: Int[Array | np.ndarray, "*lanes"]
    effort: Int[Array | np.ndarray, "*lanes"]
    T: Float[Array | np.ndarray, "*lanes outputs inputs"]


@functools.lru_cache(maxsize=32)
def _program(mask: Mask, every: int, power: int):
    def advance(lane: DescentState) -> DescentState:
        slope = lambda w: loss_gradient(w, lane.T, mask)

        def step(w: Packed, _):
            return jax.tree.map(lambda a, g: a - lane.step * g, w, slope(w)), None

        def power_step(v: Packed, _):
            Hv = jax.jvp(slope, (w,), (v,))[1]
            length = optax.tree.norm(Hv)
            least = jnp.finfo(length.dtype).tiny
            return jax.tree.map(lambda a: a / jnp.maximum(length, least), Hv), length

        w, _ = jax.lax.scan(step, lane.weights, None, length=every, unroll=2)
        v, lengths = jax.lax.scan(power_step, lane.steepest, None, length=power)
        curvature = lengths[-1]
        price = loss(w, lane.T, mask)
        # The first chunk (curvature 0) only measures: its step is 0.
        first = lane.curvature == 0.0
        # On a plateau the loss itself moves by less than it is rounded.
        risen = price > lane.loss * (1.0 + 64 * jnp.finfo(price.dtype).eps)
        good = first | (~risen & (curvature <= 2.0 * lane.curvature))
        onward = jnp.where(first, 0.01 / curvature, jnp.minimum(1.5 * lane.step, 0.9 / curvature))
        weights, steepest, curvature, price = jax.tree.map(
            lambda new, old: jnp.where(good, new, old),
            (w, v, curvature, price),
            (lane.weights, lane.steepest, lane.curvature, lane.loss),
        )
        return DescentState(
            weights,
            steepest,
            curvature,
            jnp.where(good, onward, 0.5 * lane.step),
            price,
            lane.time + jnp.where(good, every * lane.step, 0.0),
            lane.steps + jnp.where(good & ~first, every, 0),
            lane.effort + jnp.where(first, 0, every) + 3 * power,
            lane.T,
        )

    return over_lanes(advance)


def safe_descent(
    runs: Sequence[PairRun],
    *,
    mask: Mask,
    stop: float,
    every: int = 100,
    power: int = 6,
    limit: int = 200_000,
    width: int = 4,
    precision: Literal["auto", "float32", "float64"] = "float64",
) -> Iterator[tuple[int, PairFit]]:
    r"""Descend $\Lambda$ from each start to `stop`, at most `limit` gradients.

    A run whose step has shrunk to nothing is `stalled`. In `auto` precision runs go
    in float32, except those whose first gradients it would flush to zero.
    """
    checked_runs(runs, mask=mask, stop=stop, precision=precision, every=every)
    least = smallest_scale("float32")
    fitting = ["float32" if weight_size(run) >= least else "float64" for run in runs]
    precisions = fitting if precision == "auto" else [precision] * len(runs)

    def start(i: int) -> DescentState:
        number = lambda value: np.asarray(value, dtype=precisions[i])
        w = jax.tree.map(number, packed(runs[i].net, mask))
        length = np.sqrt(sum((a.astype(float) ** 2).sum() for a in w))
        zero, none = number(0.0), np.zeros((), np.int32)
        steepest = jax.tree.map(lambda a: number(a / length), w)
        T = number(runs[i].T)
        return DescentState(w, steepest, zero, zero, number(np.inf), zero, none, none, T)

    def advance(batch: DescentState):
        moved = _program(mask, every, power)(batch)
        started = moved.curvature > 0.0
        stuck = started & ~(moved.step * moved.curvature > 1e-9)
        return moved, ~(moved.loss > stop) | (moved.effort >= limit) | stuck

    lanes = finished_lanes(precisions, start=start, advance=advance, width=width)
    for i, lane in lanes:
        ending: Ending = "converged"
        if not np.isfinite(lane.loss):
            ending = "diverged"
        elif lane.loss > stop:
            ending = "out of steps" if lane.effort >= limit else "stalled"
        record = {"steps": lane.steps, "time": lane.time, "precision": precisions[i]}
        yield i, as_fit(lane.weights, runs[i], mask, ending, **record)
