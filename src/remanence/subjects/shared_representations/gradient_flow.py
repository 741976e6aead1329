r"""Gradient flow, $\dot w = -\nabla\Lambda$, followed until the loss falls to `stop`.

Explicit Runge–Kutta with error control: the scheme is diffrax's Tsit5, the loop is our
own (with `diffeqsolve` and its event a table of small networks took twice the processor
time, most of it compiling: decision 0061). Its steps are long while the weights are
small and again when the loss is. The flow ends by an event at the loss: a chunk that
went below is taken back and shortened until it ends there. Along the way
$W_o^\top W_o - W_hW_h^\top$ and $W_h^\top W_h - W_iW_i^\top$ stand still; how far the
computed ones moved at most, looked at after every chunk, is part of the record.

In float32 a step costs about half; the test loss at $10^{-6}$ was the same to 1e-4.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..._precision import as_double, as_numpy, double
from .batch_lanes import finished_lanes, over_lanes, Places
from .language_pairs import Mask
from .pair_gradient import conserved, gradient, Packed, packed, squared_error
from .pair_training import as_fit, checked_runs, Ending, PairFit, PairRun, size
from .tsit5 import tsit5


SINGLE_STOP = 1e-8
"""The lowest loss that the flow may be asked for in float32."""
LANDING = 5e-4
"""How far below the stop the last loss may lie, relatively."""


class Flowing(NamedTuple):
    """One lane: where it is, a time at which the loss is known to be below the stop,

    what should stand still, and how far it moved.
    """

    weights: Packed
    time: Float[Array | np.ndarray, "*lanes"]
    step: Float[Array | np.ndarray, "*lanes"]
    loss: Float[Array | np.ndarray, "*lanes"]
    attempts: Int[Array | np.ndarray, "*lanes"]
    late: Float[Array | np.ndarray, "*lanes"]
    late_loss: Float[Array | np.ndarray, "*lanes"]
    T: Float[Array | np.ndarray, "*lanes outputs inputs"]
    atol: Float[Array | np.ndarray, "*lanes"]
    horizon: Float[Array | np.ndarray, "*lanes"]
    kept: tuple[
        Float[Array | np.ndarray, "*lanes units units"],
        Float[Array | np.ndarray, "*lanes units units"],
    ]
    moved: Float[Array | np.ndarray, "*lanes"]


class Stepping(NamedTuple):
    """Inside a chunk: weights, slope, the step to try, time left, time and attempts."""

    weights: Packed
    slope: Packed
    step: Float[Array | np.ndarray, ""]
    left: Float[Array | np.ndarray, ""]
    time: Float[Array | np.ndarray, ""]
    attempts: Int[Array | np.ndarray, ""]


@functools.lru_cache(maxsize=32)
def _program(mask: Mask, stop: float, rtol: float, every: int):
    """At most `every` attempted steps of a batch, ending at the loss if it is met."""

    def chunk(lane: Flowing) -> Flowing:
        D = lane.weights.P.shape[0 if mask == "diagonal" else 1]
        T = lane.T.astype(lane.weights.P.dtype)
        scale = -1.0 / (D * jnp.sum(T))

        def downhill(w: Packed) -> Packed:
            return jax.tree.map(lambda a: scale * a, gradient(w, T, mask)[0])

        def step(s: Stepping) -> Stepping:
            h = jnp.minimum(s.step, s.left)
            y, slope, error = tsit5(downhill, s.weights, s.slope, h)
            ratio = jax.tree.map(
                lambda e, a, b: (
                    e
                    / (
                        lane.atol.astype(e.dtype)
                        + rtol * jnp.maximum(jnp.abs(a), jnp.abs(b))
                    )
                ),
                error,
                s.weights,
                y,
            )
            count = sum(r.size for r in ratio)
            size = jnp.sqrt(sum(jnp.sum(r * r) for r in ratio) / count).astype(h.dtype)
            good = size <= 1.0  # false for NaN
            change = jnp.clip(0.9 * jnp.maximum(size, 1e-10) ** -0.2, 0.2, 10.0)
            change = jnp.where(jnp.isfinite(size), change, 0.2)
            # A step cut short at the end says little about the next one.
            onward = jnp.maximum(h * change, jnp.where(h < s.step, s.step, 0.0))
            keep = lambda new, old: jax.tree.map(
                lambda a, b: jnp.where(good, a, b), new, old
            )
            return Stepping(
                keep(y, s.weights),
                keep(slope, s.slope),
                jnp.where(good, onward, h * jnp.minimum(change, 1.0)),
                s.left - jnp.where(good, h, 0.0),
                s.time + jnp.where(good, h, 0.0),
                s.attempts + 1,
            )

        # Between here and the known late time the loss falls about exponentially.
        aim = stop * (1.0 - 0.5 * LANDING)
        share = jnp.log(lane.loss / aim) / jnp.log(lane.loss / lane.late_loss)
        left = jnp.where(
            jnp.isfinite(lane.late),
            (lane.late - lane.time) * share,
            lane.horizon - lane.time,
        )
        first = Stepping(
            lane.weights,
            downhill(lane.weights),
            lane.step,
            left,
            lane.time,
            jnp.zeros((), jnp.int32),
        )
        last = jax.lax.while_loop(
            lambda s: (s.attempts < every) & (s.left > 0.0), step, first
        )
        loss = squared_error(last.weights, T, mask) / (2 * D * jnp.sum(T))
        loss = loss.astype(lane.loss.dtype)
        over = (loss < stop * (1.0 - LANDING)) & (
            last.time - lane.time > 1e-6 * lane.time
        )
        back = lambda old, new: jax.tree.map(
            lambda a, b: jnp.where(over, a, b), old, new
        )
        now = jnp.stack(conserved(last.weights)).astype(lane.moved.dtype)
        moved = jnp.max(jnp.abs(now - jnp.stack(lane.kept)))
        return Flowing(
            back(lane.weights, last.weights),
            back(lane.time, last.time),
            back(lane.step, last.step),
            back(lane.loss, loss),
            lane.attempts + last.attempts,
            jnp.where(over, last.time, lane.late),
            jnp.where(over, loss, lane.late_loss),
            lane.T,
            lane.atol,
            lane.horizon,
            lane.kept,
            jnp.where(over, lane.moved, jnp.maximum(lane.moved, moved)),
        )

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
    precision: Literal["auto", "float32", "float64"] = "float64",
) -> Iterator[tuple[int, PairFit]]:
    r"""Follow the flow of $\Lambda$ from each start down to `stop`.

    `limit` bounds the attempted steps. A run that ends there with its loss still
    far up has usually met a sign wall: see `shared_representations.wall_probability`. The flow leaves
    a start of size σ after a time of about 1/σ, so a `horizon` that is not told is
    $10^{12}/\min(σ, 1)$; a run that is still up then is `out of time`. In `auto`
    precision it is followed in float64: a flow has no first step to be rounded away, but
    its last ones would be.
    """
    checked_runs(
        runs, mask=mask, stop=stop, width=width, precision=precision, every=every
    )
    precision = "float64" if precision == "auto" else precision
    if precision == "float32" and stop < SINGLE_STOP:
        raise ValueError(
            f"float32 rounds the flow's last steps away below a loss of "
            f"{SINGLE_STOP:g}, got the stop {stop:g}; follow it in float64"
        )

    def start(i: int) -> Flowing:
        run = runs[i]
        with double():
            w = jax.tree.map(
                lambda a: np.asarray(a, dtype=precision), packed(run.plain, mask)
            )
            kept = as_numpy(conserved(as_double(w)))
        sigma = size(run)
        late = 1e12 / min(sigma, 1.0) if horizon is None else horizon
        return Flowing(
            w,
            np.asarray(0.0),
            np.asarray(1.0),
            np.asarray(1.0),
            np.asarray(0, dtype=np.int32),
            np.asarray(np.inf),
            np.asarray(0.0),
            run.T.astype(float),
            np.asarray(rtol * min(0.1 * sigma, 1e-2)),
            np.asarray(late),
            kept,
            np.asarray(0.0),
        )

    def advance(batch: Flowing, _: Places) -> tuple[Flowing, Places]:
        # Clock and loss are doubles in either precision.
        with double():
            moved = as_numpy(_program(mask, stop, rtol, every)(batch))
        spent = (moved.attempts >= limit) | (moved.time >= moved.horizon)
        return moved, ~(moved.loss > stop) | spent

    for i, lane in finished_lanes(len(runs), start=start, advance=advance, width=width):
        ending: Ending = "out of steps"
        if not np.isfinite(lane.loss):
            ending = "diverged"
        elif lane.loss <= stop:
            ending = "converged"
        elif lane.time >= lane.horizon:
            ending = "out of time"
        yield (
            i,
            as_fit(
                lane.weights,
                runs[i],
                mask,
                ending=ending,
                moved=float(lane.moved),
                steps=int(lane.attempts),
                effort=6 * int(lane.attempts),
                time=float(lane.time),
                precision=precision,
            ),
        )
