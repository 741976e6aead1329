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
from .pair_gradient import gradient, Packed, packed, squared_error
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
        D = lane.weights.P.shape[0 if mask == "diagonal" else 1]
        pairs = D * jnp.sum(lane.T)
        scaled = lambda factor, w: jax.tree.map(lambda a: factor * a, w)
        slope = lambda w: scaled(1.0 / pairs, gradient(w, lane.T, mask))

        def step(w: Packed, _):
            return jax.tree.map(lambda a, g: a - lane.step * g, w, slope(w)), None

        def power_step(v: Packed, _):
            Hv = jax.jvp(slope, (w,), (v,))[1]
            length = optax.tree.norm(Hv)
            least = jnp.finfo(length.dtype).tiny
            return scaled(1.0 / jnp.maximum(length, least), Hv), length

        w, _ = jax.lax.scan(step, lane.weights, None, length=every, unroll=2)
        v, lengths = jax.lax.scan(power_step, lane.steepest, None, length=power)
        curvature = lengths[-1]
        loss = squared_error(w, lane.T, mask) / (2 * pairs)
        # The first chunk (curvature 0) only measures: its step is 0.
        first = lane.curvature == 0.0
        # On a plateau the loss itself moves by less than it is rounded.
        risen = loss > lane.loss * (1.0 + 64 * jnp.finfo(loss.dtype).eps)
        good = first | (~risen & (curvature <= 2.0 * lane.curvature))
        onward = jnp.where(
            first, 0.01 / curvature, jnp.minimum(1.5 * lane.step, 0.9 / curvature)
        )
        weights, steepest, curvature, loss = jax.tree.map(
            lambda new, old: jnp.where(good, new, old),
            (w, v, curvature, loss),
            (lane.weights, lane.steepest, lane.curvature, lane.loss),
        )
        return DescentState(
            weights,
            steepest,
            curvature,
            jnp.where(good, onward, 0.5 * lane.step),
            loss,
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
    checked_runs(
        runs, mask=mask, stop=stop, width=width, precision=precision, every=every
    )
    least = smallest_scale("float32")
    precisions = [
        precision
        if precision != "auto"
        else "float32"
        if weight_size(run) >= least
        else "float64"
        for run in runs
    ]

    def start(i: int) -> DescentState:
        number = lambda value: np.asarray(value, dtype=precisions[i])
        w = jax.tree.map(number, packed(runs[i].net, mask))
        length = np.sqrt(sum((a.astype(float) ** 2).sum() for a in w))
        zero, none = number(0.0), np.zeros((), np.int32)
        steepest = jax.tree.map(lambda a: number(a / length), w)
        T = number(runs[i].T)
        return DescentState(
            w, steepest, zero, zero, number(np.inf), zero, none, none, T
        )

    def advance(batch: DescentState):
        moved = _program(mask, every, power)(batch)
        started = moved.curvature > 0.0
        stuck = started & ~(moved.step * moved.curvature > 1e-9)
        return moved, ~(moved.loss > stop) | (moved.effort >= limit) | stuck

    for i, lane in finished_lanes(
        precisions, start=start, advance=advance, width=width
    ):
        ending: Ending = "converged"
        if not np.isfinite(lane.loss):
            ending = "diverged"
        elif lane.loss > stop:
            ending = "out of steps" if lane.effort >= limit else "stalled"
        yield (
            i,
            as_fit(
                lane.weights,
                runs[i],
                mask,
                ending=ending,
                steps=int(lane.steps),
                effort=int(lane.effort),
                time=float(lane.time),
                precision=precisions[i],
            ),
        )
