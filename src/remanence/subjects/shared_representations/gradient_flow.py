r"""Gradient flow, $\dot w = -\nabla\Lambda$, followed until the loss falls to `stop`.

Steps and error control are diffrax's (Tsit5, PID controller), taken one by one so that
a batch advances in chunks and a finished run gives its place away. The steps are long
while the weights are small and again when the loss is. A chunk that fell below the stop
is taken back and shortened until it ends there.

In float32 a step costs about half; the test loss at $10^{-6}$ was the same to 1e-4, and below
$10^{-8}$ its last steps are rounded away.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .language_pairs import Mask
from .pair_gradient import loss, loss_gradient, Packed
from .pair_training import Lane, over_lanes, PairFit, PairRun, Precision, train_pairs


SOLVER = diffrax.Tsit5()
ORDER = 5.0
LANDING = 5e-4
"""How far below the stop the last loss may lie, relatively."""
EVERY = 16
"""Attempted steps of a chunk."""
HORIZON = 1e12
"""Time over σ after which a run is out of it: a start of size σ is left after about 1/σ."""


class FlowMemory(NamedTuple):
    """The next step, its tolerance, and a later time at which the loss is below the stop."""

    step: Float[Array | np.ndarray, "*lanes"]
    atol: Float[Array | np.ndarray, "*lanes"]
    stop: Float[Array | np.ndarray, "*lanes"]
    late: Float[Array | np.ndarray, "*lanes"]
    late_loss: Float[Array | np.ndarray, "*lanes"]


def _attempts(lane: Lane, end: Array, mask: Mask, rtol: float):
    """At most `EVERY` attempted steps, not beyond `end`: weights, time, step, count."""
    downhill = lambda w: jax.tree.map(jnp.negative, loss_gradient(w, lane.T, mask))
    term = diffrax.ODETerm(lambda t, w, args: downhill(w))
    control = diffrax.PIDController(rtol=rtol, atol=lane.memory.atol)
    zero = jnp.zeros_like(end)

    def attempt(carry):
        w, time, step, solver_state, control_state, count = carry
        step = jnp.minimum(step, end - time)
        no_jump = jnp.array(False)
        # Every step begins at time 0: after a start of 1/σ a sum could not hold it.
        y, error, _, later, _ = SOLVER.step(term, zero, step, w, None, solver_state, no_jump)
        good, begin, onward, _, control_state, _ = control.adapt_step_size(
            zero, step, w, y, None, error, ORDER, control_state
        )
        w, solver_state, time = jax.tree.map(
            lambda new, old: jnp.where(good, new, old),
            (y, later, time + step),
            (w, solver_state, time),
        )
        return w, time, onward - begin, solver_state, control_state, count + 1

    first = (term, zero, lane.memory.step, lane.weights)
    solver_state = SOLVER.init(*first, None)
    step, control_state = control.init(*first, lane.memory.step, None, SOLVER.func, ORDER)
    w, time, step, _, _, count = jax.lax.while_loop(
        lambda carry: (carry[-1] < EVERY) & (carry[1] < end),
        attempt,
        (lane.weights, lane.time, step, solver_state, control_state, 0),
    )
    return w, time, step, count


@functools.lru_cache(maxsize=32)
def _program(mask: Mask, rtol: float):
    """At most `EVERY` attempted steps of a batch, ending at the loss if it is met."""

    def chunk(lane: Lane) -> Lane:
        kept: FlowMemory = lane.memory
        # Between here and the known late time the loss falls about exponentially.
        aim = kept.stop * (1.0 - 0.5 * LANDING)
        share = jnp.log(lane.loss / aim) / jnp.log(lane.loss / kept.late_loss)
        end = jnp.where(
            jnp.isfinite(kept.late), lane.time + (kept.late - lane.time) * share, lane.horizon
        )
        weights, time, step, count = _attempts(lane, end, mask, rtol)
        now = loss(weights, lane.T, mask)
        moved = lane._replace(weights=weights, time=time, loss=now, memory=kept._replace(step=step))
        taken_back = lane._replace(memory=kept._replace(late=time, late_loss=now))
        below = now < kept.stop * (1.0 - LANDING)
        over = below & (time - lane.time > 1e-6 * lane.time)
        lane = jax.tree.map(lambda a, b: jnp.where(over, a, b), taken_back, moved)
        return lane._replace(steps=lane.steps + count)

    return over_lanes(chunk)


def gradient_flow(
    runs: Sequence[PairRun],
    *,
    mask: Mask,
    stop: float,
    rtol: float = 1e-5,
    limit: int = 20_000,
    width: int = 4,
    precision: Precision = "float64",
) -> Iterator[tuple[int, PairFit]]:
    r"""Follow the flow of $\Lambda$ from each start down to `stop`.

    `limit` bounds the attempted steps. A run that ends there with its loss still far up has
    usually met a sign barrier: see `barrier_probability`.
    """

    def memory(run: PairRun, weights: Packed) -> tuple[FlowMemory, float]:
        # No BLAS: its threads would go on spinning on the core of the training.
        flat = np.concatenate([np.asarray(w, float).ravel() for w in jax.tree.leaves(run.net)])
        sigma = min(float(np.sqrt((flat * flat).mean())), 1.0)
        atol = rtol * min(0.1 * sigma, 1e-2)
        return FlowMemory(1.0, atol, stop, np.inf, 0.0), HORIZON / sigma  # pyright: ignore[reportArgumentType]

    yield from train_pairs(
        runs,
        mask=mask,
        stop=stop,
        limit=limit,
        width=width,
        precision=precision,
        memory=memory,
        advance=_program(mask, rtol),
    )
