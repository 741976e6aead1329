r"""Gradient flow, $\dot w = -\nabla\Lambda$, followed until the loss falls to `stop`.

Steps and error control are diffrax's (Tsit5, PID controller), taken one by one so that
a batch advances in chunks and a finished run gives its place away. The steps are long
while the weights are small and again when the loss is. A chunk that fell below the stop
is taken back and shortened until it ends there.

In float32 a step costs about half; the test loss at $10^{-6}$ was the same to 1e-4.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .language_pairs import Mask
from .pair_gradient import loss, loss_gradient, Packed, packed
from .pair_training import (
    check_runs,
    Ending,
    finished_lanes,
    fit_record,
    over_lanes,
    PairFit,
    PairRun,
    Precision,
    weight_size,
)


SOLVER = diffrax.Tsit5()
ORDER = 5.0
SINGLE_STOP = 1e-8
"""The lowest loss that the flow may be asked for in float32."""
LANDING = 5e-4
"""How far below the stop the last loss may lie, relatively."""


class FlowState(NamedTuple):
    """One lane; `late` is a time at which the loss is known to be below the stop."""

    weights: Packed
    time: Float[Array | np.ndarray, "*lanes"]
    step: Float[Array | np.ndarray, "*lanes"]
    loss: Float[Array | np.ndarray, "*lanes"]
    attempts: Int[Array | np.ndarray, "*lanes"]
    late: Float[Array | np.ndarray, "*lanes"]
    late_loss: Float[Array | np.ndarray, "*lanes"]
    stop: Float[Array | np.ndarray, "*lanes"]
    T: Float[Array | np.ndarray, "*lanes outputs inputs"]
    atol: Float[Array | np.ndarray, "*lanes"]
    horizon: Float[Array | np.ndarray, "*lanes"]


def _attempts(lane: FlowState, end: Array, mask: Mask, rtol: float, every: int):
    """At most `every` attempted steps, not beyond `end`: weights, time, step, count."""
    downhill = lambda w: jax.tree.map(jnp.negative, loss_gradient(w, lane.T, mask))
    term = diffrax.ODETerm(lambda t, w, args: downhill(w))
    control = diffrax.PIDController(rtol=rtol, atol=lane.atol)
    zero = jnp.zeros_like(end)

    def attempt(carry):
        w, time, step, memory, control_memory, count = carry
        step = jnp.minimum(step, end - time)
        no_jump = jnp.array(False)
        # Every step begins at time 0: after a start of 1/σ a sum could not hold it.
        y, error, _, later, _ = SOLVER.step(term, zero, step, w, None, memory, no_jump)
        good, begin, onward, _, control_memory, _ = control.adapt_step_size(
            zero, step, w, y, None, error, ORDER, control_memory
        )
        w, memory, time = jax.tree.map(
            lambda new, old: jnp.where(good, new, old), (y, later, time + step), (w, memory, time)
        )
        return w, time, onward - begin, memory, control_memory, count + 1

    told = (term, zero, lane.step, lane.weights)
    memory = SOLVER.init(*told, None)
    step, control_memory = control.init(*told, lane.step, None, SOLVER.func, ORDER)
    w, time, step, _, _, count = jax.lax.while_loop(
        lambda carry: (carry[-1] < every) & (carry[1] < end),
        attempt,
        (lane.weights, lane.time, step, memory, control_memory, 0),
    )
    return w, time, step, count


@functools.lru_cache(maxsize=32)
def _program(mask: Mask, rtol: float, every: int):
    """At most `every` attempted steps of a batch, ending at the loss if it is met."""

    def chunk(lane: FlowState) -> FlowState:
        # Between here and the known late time the loss falls about exponentially.
        aim = lane.stop * (1.0 - 0.5 * LANDING)
        share = jnp.log(lane.loss / aim) / jnp.log(lane.loss / lane.late_loss)
        end = jnp.where(
            jnp.isfinite(lane.late), lane.time + (lane.late - lane.time) * share, lane.horizon
        )
        weights, time, step, count = _attempts(lane, end, mask, rtol, every)
        price = loss(weights, lane.T, mask)
        ahead = lane._replace(weights=weights, time=time, step=step, loss=price)
        back = lane._replace(late=time, late_loss=price)
        below = price < lane.stop * (1.0 - LANDING)
        over = below & (time - lane.time > 1e-6 * lane.time)
        lane = jax.tree.map(lambda a, b: jnp.where(over, a, b), back, ahead)
        return lane._replace(attempts=lane.attempts + count)

    return over_lanes(chunk)


def gradient_flow(
    runs: Sequence[PairRun],
    *,
    mask: Mask,
    stop: float,
    rtol: float = 1e-5,
    horizon: float | None = None,
    every: int = 16,
    limit: int = 20_000,
    width: int = 4,
    precision: Precision = "float64",
) -> Iterator[tuple[int, PairFit]]:
    r"""Follow the flow of $\Lambda$ from each start down to `stop`.

    `limit` bounds the attempted steps. A run that ends there with its loss still
    far up has usually met a sign barrier: see `barrier_probability`. The flow leaves
    a start of size σ after a time of about 1/σ, so a `horizon` that is not given is
    $10^{12}/\min(σ, 1)$; a run that is still up then is `out of time`.
    """
    check_runs(runs, mask=mask, stop=stop, precision=precision)
    if precision == "float32" and stop < SINGLE_STOP:
        raise ValueError(
            f"float32 rounds the flow's last steps away below a loss of "
            f"{SINGLE_STOP:g}, got the stop {stop:g}; follow it in float64"
        )

    def start(i: int) -> FlowState:
        number = lambda value: np.asarray(value, dtype=precision)
        sigma = weight_size(runs[i])
        late = 1e12 / min(sigma, 1.0) if horizon is None else horizon
        return FlowState(
            jax.tree.map(number, packed(runs[i].net, mask)),
            time=number(0.0),
            step=number(1.0),
            loss=number(1.0),
            attempts=np.zeros((), np.int32),
            late=number(np.inf),
            late_loss=number(0.0),
            stop=number(stop),
            T=number(runs[i].T),
            atol=number(rtol * min(0.1 * sigma, 1e-2)),
            horizon=number(late),
        )

    def advance(batch: FlowState):
        moved = _program(mask, rtol, every)(batch)
        spent = (moved.attempts >= limit) | (moved.time >= moved.horizon)
        return moved, ~(moved.loss > stop) | spent

    places = {"start": start, "advance": advance, "width": width, "precision": precision}
    for i, lane in finished_lanes(len(runs), **places):
        ending: Ending = "out of time" if lane.time >= lane.horizon else "out of steps"
        if not np.isfinite(lane.loss):
            ending = "diverged"
        elif lane.loss <= stop:
            ending = "converged"
        record = {"steps": lane.attempts, "time": lane.time}
        yield i, fit_record(lane.weights, runs[i], mask, ending, **record)
