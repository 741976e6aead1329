r"""Two ways down the loss $\Lambda$: the document's SGD with momentum, and gradient flow.

*SGD*: $m \leftarrow 0.9\,m + \nabla\ell$, $w \leftarrow w - \eta m$ in float32. Its loss is
$\ell = \sum (\text{masked difference})^2 / |T| = 2D\Lambda$, looked at once in a thousand steps.

*Flow*: $\dot w = -\nabla\Lambda$, followed until the loss falls to `stop`, in float64: in float32 the
last steps below $10^{-8}$ would be rounded away. Steps and error control are diffrax's (Tsit5, PID
controller), taken one by one so that a batch advances in chunks and a finished run gives its place
away. A chunk that fell below the stop is taken back and shortened until it ends there.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .gated_linear import GatedLinear
from .language_pairs import Mask
from .pair_gradient import gradient, loss, Packed, taught_words
from .pair_training import Lane, over_lanes, PairFit, PairRun, train_pairs


RATE, MOMENTUM = 5e-3, 0.9
SMALLEST = 1e-6
"""σ below which the first steps of SGD are less than half a unit in a weight's last place."""
SOLVER = diffrax.Tsit5()
ORDER = 5.0
LANDING = 5e-4  # how far below the stop the last loss may lie, relatively
EVERY = 16  # attempted steps of a chunk


@functools.lru_cache(maxsize=32)
def _sgd_program(mask: Mask, every: int):
    def advance(lane: Lane) -> Lane:
        # The gradient is linear in T, so the loss's factor goes in there once.
        T = (2.0 / jnp.sum(lane.T)) * lane.T

        def step(carry, _):
            w, m = carry
            m = jax.tree.map(lambda g, m: g + MOMENTUM * m, gradient(w, T, mask), m)
            return (jax.tree.map(lambda w, m: w - RATE * m, w, m), m), None

        # Two steps an iteration: the buffers of old and new weights then change
        # places instead of being copied.
        (w, m), _ = jax.lax.scan(step, (lane.weights, lane.memory), None, length=every, unroll=2)
        steps = lane.steps + every
        return lane._replace(weights=w, memory=m, steps=steps, loss=loss(w, lane.T, mask))

    return over_lanes(advance)


def weight_size(net: GatedLinear) -> float:
    """σ as its weights show it: their root mean square."""
    # No BLAS: its threads would go on spinning on the core of the training.
    flat = np.concatenate([np.asarray(w, float).ravel() for w in jax.tree.leaves(net)])
    return float(np.sqrt((flat * flat).mean()))


def momentum_sgd(
    runs: Sequence[PairRun],
    *,
    mask: Mask,
    every: int = 1_000,
    precision: str = "float32",
    **how: Any,
) -> Iterator[tuple[int, PairFit]]:
    r"""Train as the document did, with the options of `train_pairs`; `stop` is $\Lambda$."""
    if precision == "float32" and any(weight_size(run.net) < SMALLEST for run in runs):
        raise ValueError(
            "sigma is so small that SGD's steps are rounded away in float32; follow the flow instead"
        )
    nothing = lambda run, weights: jax.tree.map(np.zeros_like, weights)
    program = _sgd_program(mask, every)
    yield from train_pairs(
        runs, mask=mask, precision=precision, memory=nothing, advance=program, **how
    )


class FlowMemory(NamedTuple):
    """The next step, its tolerance, and a later time at which the loss is below the stop."""

    step: Float[Array | np.ndarray, "*lanes"]
    atol: Float[Array | np.ndarray, "*lanes"]
    stop: Float[Array | np.ndarray, "*lanes"]
    late: Float[Array | np.ndarray, "*lanes"]
    late_loss: Float[Array | np.ndarray, "*lanes"]


def _attempts(lane: Lane, end: Array, mask: Mask, rtol: float):
    """At most `EVERY` attempted steps, not beyond `end`: weights, time, step, count."""
    words = taught_words(lane.weights, lane.T, mask)
    downhill = lambda w: jax.tree.map(lambda g: -(g / words), gradient(w, lane.T, mask))
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
def _flow_program(mask: Mask, rtol: float):
    """At most `EVERY` attempted steps of a batch, ending at the loss if it is met."""

    def chunk(lane: Lane) -> Lane:
        kept: FlowMemory = lane.memory
        # Between here and the known late time the loss falls about exponentially.
        aim = kept.stop * (1.0 - 0.5 * LANDING)
        share = jnp.log(lane.loss / aim) / jnp.log(lane.loss / kept.late_loss)
        end = jnp.where(
            jnp.isfinite(kept.late), lane.time + (kept.late - lane.time) * share, jnp.inf
        )
        weights, time, step, count = _attempts(lane, end, mask, rtol)
        now = loss(weights, lane.T, mask)
        moved = lane._replace(weights=weights, time=time, loss=now, memory=kept._replace(step=step))
        taken_back = lane._replace(memory=kept._replace(late=time, late_loss=now))
        below = now < kept.stop * (1.0 - LANDING)
        over = below & (time - lane.time > 1e-6 * lane.time)
        lane = jax.tree.map(lambda a, b: jnp.where(over, a, b), taken_back, moved)
        return lane._replace(steps=lane.steps + jnp.maximum(count, 1))

    return over_lanes(chunk)


def gradient_flow(
    runs: Sequence[PairRun],
    *,
    mask: Mask,
    rtol: float = 1e-5,
    precision: str = "float64",
    **how: Any,
) -> Iterator[tuple[int, PairFit]]:
    r"""Follow the flow of $\Lambda$ from each start, with the options of `train_pairs`; `limit` bounds
    the attempted steps. A run that ends there has usually met a sign barrier."""

    def memory(run: PairRun, weights: Packed) -> FlowMemory:
        atol = rtol * min(0.1 * min(weight_size(run.net), 1.0), 1e-2)
        return FlowMemory(1.0, atol, how["stop"], np.inf, 0.0)  # pyright: ignore[reportArgumentType]

    program = _flow_program(mask, rtol)
    yield from train_pairs(
        runs, mask=mask, precision=precision, memory=memory, advance=program, **how
    )
