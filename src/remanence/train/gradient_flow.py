r"""Gradient flow, $\dot w = -\nabla\Lambda$, followed until the loss falls to `stop`.

Explicit Runge–Kutta with error control (diffrax's Tsit5) in float64: its steps are
long while the weights are small and again when the loss is. The flow ends by an
event at the loss, placed inside its last step. Along the way
$W_o^\top W_o - W_hW_h^\top$ and $W_h^\top W_h - W_iW_i^\top$ stand still; how far
the computed ones moved is part of the record.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
from jaxtyping import Array, Bool, Float, Int

from .._precision import as_double, as_numpy, double
from ..tasks.language_pairs import Mask
from .gram import gradient, Packed, packed, squared_error, Taught
from .lanes import finished_lanes, over_lanes
from .pairs import as_fit, checked_runs, Ending, PairFit, PairRun


class Flowing(NamedTuple):
    """One lane, and where it stood one chunk ago (the event is searched from there)."""

    weights: Packed
    time: Float[Array | np.ndarray, "*lanes"]
    step: Float[Array | np.ndarray, "*lanes"]
    loss: Float[Array | np.ndarray, "*lanes"]
    attempts: Int[Array | np.ndarray, "*lanes"]
    before: Packed
    time_before: Float[Array | np.ndarray, "*lanes"]
    T: Float[Array | np.ndarray, "*lanes outputs inputs"]
    atol: Float[Array | np.ndarray, "*lanes"]


def _loss(w: Packed, T: Taught, mask: Mask):
    # In float64 the Gram form cancels only below about 1e-14 and costs far less
    # than the blocks of the full mask.
    square = (
        squared_error(w, T, mask) if mask == "diagonal" else gradient(w, T, mask)[1]
    )
    D = w.P.shape[0 if mask == "diagonal" else 1]
    return square / (2 * D * jnp.sum(T))


@functools.lru_cache(maxsize=32)
def _programs(mask: Mask, stop: float, rtol: float, horizon: float, every: int):
    """The chunk without event for a batch, and the landing with it for one lane."""

    def downhill(t, w: Packed, T: Taught) -> Packed:
        g, _ = gradient(w, T, mask)
        D = w.P.shape[0 if mask == "diagonal" else 1]
        return jax.tree.map(lambda a: -a / (D * jnp.sum(T)), g)

    def above(t, y: Packed, args, **_) -> Float[Array, ""]:
        return _loss(y, args, mask) - stop

    def solve(w: Packed, lane: Flowing, t0, event):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(downhill),
            diffrax.Tsit5(),
            t0=t0,
            t1=horizon,
            dt0=lane.step,
            y0=w,
            args=lane.T,
            stepsize_controller=diffrax.PIDController(rtol=rtol, atol=lane.atol),
            event=event,
            # The landing may need other steps than the chunk before it.
            max_steps=every if event is None else 4 * every,
            throw=False,
        )

    def chunk(lane: Flowing) -> Flowing:
        flow = solve(lane.weights, lane, lane.time, None)
        w = jax.tree.map(lambda a: a[-1], flow.ys)
        taken = flow.stats["num_accepted_steps"]
        time = jnp.asarray(flow.ts)[-1]
        mean = (time - lane.time) / jnp.maximum(taken, 1)
        return Flowing(
            w,
            time,
            jnp.where(taken > 0, mean, lane.step * 0.1),
            _loss(w, lane.T, mask),
            lane.attempts + flow.stats["num_steps"].astype(jnp.int32),
            lane.weights,
            lane.time,
            lane.T,
            lane.atol,
        )

    def landing(lane: Flowing) -> Flowing:
        event = diffrax.Event(above, optx.Newton(rtol=1e-6, atol=1e-6 * stop))
        flow = solve(lane.before, lane, lane.time_before, event)
        w = jax.tree.map(lambda a: a[-1], flow.ys)
        return lane._replace(
            weights=w, time=jnp.asarray(flow.ts)[-1], loss=_loss(w, lane.T, mask)
        )

    return jax.jit(over_lanes(chunk)), jax.jit(landing)


def gradient_flow(
    runs: Sequence[PairRun],
    *,
    mask: Mask,
    stop: float,
    rtol: float = 1e-5,
    horizon: float = 1e12,
    every: int = 32,
    limit: int = 20_000,
    width: int = 4,
) -> Iterator[tuple[int, PairFit]]:
    r"""Follow the flow of $\Lambda$ from each start down to `stop`.

    `limit` bounds the attempted steps. A run that ends there with its loss still
    far up has usually met a sign wall: see `measure.wall_probability`.
    """
    checked_runs(runs, mask=mask, stop=stop)

    def start(i: int) -> Flowing:
        run = runs[i]
        with double():
            w = as_numpy(as_double(packed(run.plain, mask)))
        size = float(np.sqrt(np.mean(np.concatenate([a.ravel() for a in w]) ** 2)))
        zero = np.asarray(0.0)
        return Flowing(
            w,
            zero,
            np.asarray(1.0),
            np.asarray(1.0),
            np.asarray(0, dtype=np.int32),
            w,
            zero,
            run.T.astype(float),
            np.asarray(rtol * min(0.1 * size, 1e-2)),
        )

    def advance(batch: Flowing) -> tuple[Flowing, Bool[np.ndarray, " width"]]:
        with double():
            moved = as_numpy(_programs(mask, stop, rtol, horizon, every)[0](batch))
        spent = (moved.attempts >= limit) | (moved.time >= horizon)
        return moved, ~(moved.loss > stop) | spent

    for i, lane in finished_lanes(len(runs), start=start, advance=advance, width=width):
        ending: Ending = "out of steps"
        if not np.isfinite(lane.loss):
            ending = "diverged"
        elif lane.loss <= stop:
            ending = "converged"
            with double():
                lane = as_numpy(_programs(mask, stop, rtol, horizon, every)[1](lane))
        yield (
            i,
            as_fit(
                lane.weights,
                runs[i],
                mask,
                ending=ending,
                steps=int(lane.attempts),
                effort=6 * int(lane.attempts),
                time=float(lane.time),
            ),
        )
