r"""Gradient descent with a safe step: $w \leftarrow w - \eta\nabla\Lambda$, $\eta \le 0.9/\hat\lambda$.

$\hat\lambda$ is the largest curvature $|\lambda(\nabla^2\Lambda)|$, followed by power
iteration. A chunk of steps counts only if the loss did not rise beyond rounding and the curvature
did not double meanwhile; otherwise it is taken back and tried with half the step.
So the descent stays near the flow where that moves fast, and away from the
bouncing of a step that is too long.
"""

import functools
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..._precision import double
from .batch_lanes import finished_lanes, over_lanes, Places
from .gated_linear import smallest_scale
from .language_pairs import Mask
from .momentum_steps import coasted
from .pair_gradient import gradient, Packed, packed, squared_error, Taught
from .pair_training import as_fit, checked_runs, Ending, PairFit, PairRun, size


class Walking(NamedTuple):
    """One lane: the weights, the present step, curvature and its direction."""

    weights: Packed
    steepest: Packed
    curvature: Float[Array | np.ndarray, "*lanes"]
    step: Float[Array | np.ndarray, "*lanes"]
    loss: Float[Array | np.ndarray, "*lanes"]
    time: Float[Array | np.ndarray, "*lanes"]
    steps: Int[Array | np.ndarray, "*lanes"]
    effort: Int[Array | np.ndarray, "*lanes"]
    T: Float[Array | np.ndarray, "*lanes outputs inputs"]


def _norm(tree: Packed) -> Float[Array, ""]:
    return jnp.sqrt(sum(jnp.sum(a * a) for a in tree))


@functools.lru_cache(maxsize=32)
def _settled(mask: Mask, every: int, power: int):
    def slope(w: Packed, T: Taught) -> Packed:
        D = w.P.shape[0 if mask == "diagonal" else 1]
        return jax.tree.map(lambda a: a / (D * jnp.sum(T)), gradient(w, T, mask)[0])

    def curvature(w: Packed, v: Packed, T: Taught):
        def iterate(v: Packed, _):
            Hv = jax.jvp(lambda w: slope(w, T), (w,), (v,))[1]
            length = _norm(Hv)
            least = jnp.finfo(length.dtype).tiny
            return jax.tree.map(lambda a: a / jnp.maximum(length, least), Hv), length

        v, sizes = jax.lax.scan(iterate, v, None, length=power)
        return v, sizes[-1]

    def judge(told: tuple[Walking, Packed]) -> Walking:
        lane, w = told
        D = lane.weights.P.shape[0 if mask == "diagonal" else 1]
        v, bend = curvature(w, lane.steepest, lane.T)
        loss = squared_error(w, lane.T, mask) / (2 * D * jnp.sum(lane.T))
        # The first chunk (curvature 0) only measures: its step is 0.
        first = lane.curvature == 0.0
        # On a plateau the loss itself moves by less than it is rounded.
        risen = loss > lane.loss * (1.0 + 64 * jnp.finfo(loss.dtype).eps)
        good = first | (~risen & (bend <= 2.0 * lane.curvature))
        keep = lambda new, old: jax.tree.map(
            lambda a, b: jnp.where(good, a, b), new, old
        )
        onward = jnp.where(first, 0.01 / bend, jnp.minimum(1.5 * lane.step, 0.9 / bend))
        return Walking(
            keep(w, lane.weights),
            keep(v, lane.steepest),
            keep(bend, lane.curvature),
            jnp.where(good, onward, 0.5 * lane.step),
            keep(loss, lane.loss),
            lane.time + jnp.where(good, every * lane.step, 0.0),
            lane.steps + jnp.where(good & ~first, every, 0),
            lane.effort + jnp.where(first, 0, every) + 3 * power,
            lane.T,
        )

    return over_lanes(judge)


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
    if precision == "auto":
        single = [size(run) >= smallest_scale("float32") for run in runs]
        names: dict[bool, Literal["float32", "float64"]]
        names = {True: "float32", False: "float64"}
        for wanted, name in names.items():
            chosen = [i for i, is_single in enumerate(single) if is_single == wanted]
            for i, fit in safe_descent(
                [runs[i] for i in chosen], mask=mask, stop=stop, every=every,
                power=power, limit=limit, width=width, precision=name,
            ):  # fmt: skip
                yield chosen[i], fit
        return
    scope = double if precision == "float64" else nullcontext

    def start(i: int) -> Walking:
        run = runs[i]
        number = lambda value: np.asarray(value, dtype=precision)
        w = jax.tree.map(number, packed(run.plain, mask))
        length = np.sqrt(sum((a.astype(float) ** 2).sum() for a in w))
        zero = np.asarray(0, dtype=np.int32)
        return Walking(
            w,
            jax.tree.map(lambda a: number(a / length), w),
            number(0.0),
            number(0.0),
            number(np.inf),
            number(0.0),
            zero,
            zero,
            number(run.T),
        )

    def advance(batch: Walking, taken: Places) -> tuple[Walking, Places]:
        D = runs[0].net.sizes[1]
        walked, _ = coasted(
            batch.weights, jax.tree.map(np.zeros_like, batch.weights), batch.T, mask=mask,
            steps=every, scale=1.0 / (D * batch.T.sum(axis=(1, 2))), momentum=0.0, rate=np.where(taken, batch.step, 0.0),
        )  # fmt: skip
        with scope():
            judged = _settled(mask, every, power)((batch, walked))
            moved = jax.tree.map(np.asarray, judged)
        started = moved.curvature > 0.0
        stuck = started & ~(moved.step * moved.curvature > 1e-9)
        return moved, ~(moved.loss > stop) | (moved.effort >= limit) | stuck

    for i, lane in finished_lanes(len(runs), start=start, advance=advance, width=width):
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
                precision=precision,
            ),
        )
