r"""The document's own training: $m \leftarrow 0.9\,m + \nabla\ell$, $w \leftarrow w - \eta m$.

Its loss is $\ell = \sum (\text{masked difference})^2 / |T| = 2D\Lambda$, in float32,
and it looks at the loss only once in a thousand steps.
"""

import functools
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..._precision import as_double, double
from .batch_lanes import finished_lanes, over_lanes, Places
from .language_pairs import Mask
from .momentum_steps import coasted
from .pair_gradient import gradient, Packed, packed, squared_error
from .pair_training import as_fit, checked_runs, Ending, PairFit, PairRun


class Coasting(NamedTuple):
    """One lane: weights, momenta, the pairs taught, steps done and the last loss."""

    weights: Packed
    momenta: Packed
    T: Float[Array | np.ndarray, "*lanes outputs inputs"]
    steps: Int[Array | np.ndarray, "*lanes"]
    loss: Float[Array | np.ndarray, "*lanes"]


@functools.lru_cache(maxsize=32)
def _loss(mask: Mask):
    def measured(lane: Coasting) -> Float[Array, ""]:
        D = lane.weights.P.shape[0 if mask == "diagonal" else 1]
        square = squared_error(lane.weights, lane.T, mask)
        return square / (2 * D * jnp.sum(lane.T))

    return over_lanes(measured)


def steps_survive(
    run: PairRun,
    *,
    mask: Mask,
    precision: str,
    rate: float = 5e-3,
    momentum: float = 0.9,
) -> bool:
    """Whether a precision can hold the first steps at all.

    A step smaller than half a unit in the last place of the weight is rounded
    away, long before the gradient itself underflows.
    """
    with double():
        w = as_double(packed(run.plain, mask))
        g, _ = gradient(w, jnp.asarray(run.T), mask)
        step = rate / (1 - momentum) * 2.0 / float(run.T.sum())
        # Weights that float32 drew as zeros move by 0/0, which no precision survives.
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = [
                np.abs(step * np.asarray(dw)).ravel() / np.abs(np.asarray(a)).ravel()
                for dw, a in zip(g, w, strict=True)
            ]
    return bool(np.median(np.concatenate(ratios)) > np.finfo(precision).eps / 4)


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
    precision: str = "auto",
) -> Iterator[tuple[int, PairFit]]:
    r"""Train as the document did; each run is yielded when it is done.

    `stop` is $\Lambda$ (the document's own $10^{-6}$ is $10^{-6}/2D$). In `auto`
    precision runs go in float32, except those whose first steps float32 would
    round away: these go in float64, and their record says so.
    """
    checked_runs(
        runs, mask=mask, stop=stop, width=width, precision=precision, every=every
    )
    holds = functools.partial(steps_survive, mask=mask, rate=rate, momentum=momentum)
    single = [
        precision == "float32"
        or (precision == "auto" and holds(run, precision="float32"))
        for run in runs
    ]
    if precision == "auto" and not all(
        s or holds(run, precision="float64")
        for s, run in zip(single, runs, strict=True)
    ):
        raise ValueError(
            "sigma is so small that SGD rounds every step away even in float64; "
            "follow the flow instead, or the toy model in log scale"
        )
    for wanted in (True, False):
        chosen = [i for i, is_single in enumerate(single) if is_single == wanted]
        if not chosen:
            continue
        name = "float32" if wanted else "float64"
        scope = nullcontext if wanted else double

        def start(i: int, chosen=chosen, name=name) -> Coasting:
            run = runs[chosen[i]]
            w = jax.tree.map(
                lambda a: np.asarray(a, dtype=name), packed(run.plain, mask)
            )
            still = jax.tree.map(np.zeros_like, w)
            return Coasting(
                w,
                still,
                run.T.astype(name),
                np.asarray(0, dtype=np.int32),
                np.asarray(1.0, dtype=name),
            )

        def advance(
            batch: Coasting, taken: Places, scope=scope
        ) -> tuple[Coasting, Places]:
            scales = 2.0 / batch.T.sum(axis=(1, 2))
            weights, momenta = coasted(
                batch.weights, batch.momenta, batch.T, mask=mask, steps=every,
                scale=scales, momentum=momentum, rate=np.where(taken, rate, 0.0),
            )  # fmt: skip
            steps = batch.steps + np.int32(every)
            moved = batch._replace(weights=weights, momenta=momenta, steps=steps)
            with scope():
                loss = np.asarray(_loss(mask)(moved))
            # `not above` is also true of NaN: a lane that burst is done.
            return moved._replace(loss=loss), ~(loss >= stop) | (steps >= limit)

        for i, lane in finished_lanes(
            len(chosen), start=start, advance=advance, width=width
        ):
            yield chosen[i], _record(lane, runs[chosen[i]], mask, stop, rate, momentum)


def _record(
    lane: Coasting,
    run: PairRun,
    mask: Mask,
    stop: float,
    rate: float,
    momentum: float,
) -> PairFit:
    loss, steps = float(lane.loss), int(lane.steps)
    ending: Ending = "converged" if loss < stop else "out of steps"
    if not np.isfinite(loss):
        ending = "diverged"
    D = run.net.sizes[1]
    return as_fit(
        lane.weights,
        run,
        mask,
        ending=ending,
        steps=steps,
        effort=steps,
        time=steps * rate / (1 - momentum) * 2 * D,
        precision=str(lane.loss.dtype),
    )
