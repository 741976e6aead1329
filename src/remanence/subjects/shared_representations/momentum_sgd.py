r"""The document's own training: $m \leftarrow 0.9\,m + \nabla\ell$, $w \leftarrow w - \eta m$.

Its loss is $\ell = \sum (\text{masked difference})^2 / |T| = 2D\Lambda$, in float32,
and it looks at the loss only once in a thousand steps.
"""

import functools
import math
from collections.abc import Iterator, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ..._precision import as_double, double
from .language_pairs import Mask
from .pair_gradient import gradient, loss, pack
from .pair_training import Lane, over_lanes, PairFit, PairRun, Precision, train_pairs


RATE, MOMENTUM = 5e-3, 0.9


@functools.lru_cache(maxsize=32)
def _program(mask: Mask, every: int):
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


def _check_first_step(run: PairRun, mask: Mask, precision: Precision) -> None:
    """Refuse a start whose steps, half a unit in a weight's last place, would be rounded away."""
    with double():
        w = as_double(pack(run.net, mask))
        g = gradient(w, jnp.asarray(run.T), mask)
        # Weights that float32 drew as zeros move by 0/0, which no precision survives.
        with np.errstate(divide="ignore", invalid="ignore"):
            moves = [np.abs(np.asarray(dw) / np.asarray(a)) for dw, a in zip(g, w, strict=True)]
    median = np.median(np.concatenate([m.ravel() for m in moves]))
    if not RATE / (1 - MOMENTUM) * 2.0 / run.T.sum() * median > np.finfo(precision).eps / 4:
        raise ValueError(
            f"sigma is so small that SGD's steps are rounded away in {precision}; "
            "follow the flow instead, which takes longer ones"
        )


def momentum_sgd(
    runs: Sequence[PairRun],
    *,
    mask: Mask,
    stop: float,
    every: int = 1_000,
    limit: int = 500_000,
    width: int = 4,
    precision: Precision = "float32",
) -> Iterator[tuple[int, PairFit]]:
    r"""Train as the document did; each run is yielded when it is done.

    `stop` is $\Lambda$ (the document's own $10^{-6}$ is $10^{-6}/2D$).
    """
    for run in runs:
        _check_first_step(run, mask, precision)
    yield from train_pairs(
        runs,
        mask=mask,
        stop=stop,
        limit=limit,
        width=width,
        precision=precision,
        memory=lambda run, weights: (jax.tree.map(np.zeros_like, weights), math.inf),
        advance=_program(mask, every),
    )
