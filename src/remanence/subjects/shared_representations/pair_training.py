r"""Trainings on pairs of languages: what is to be done, what came of it, and runs side by side.

Both ways down $\Lambda = \frac{1}{2D|T|}\|(W_oW_hW_i - J\otimes I)\odot M\|^2$, `momentum_sgd` and
`gradient_flow`, take the same runs and yield the same records. Runs differ in length a hundredfold,
so in a batch the next run takes a finished one's place; its width is fixed, so that a run's bits do
not depend on who is beside it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..._precision import as_double, as_numpy, double
from .gated_linear import GatedLinear
from .language_pairs import checked_pairs, Mask
from .pair_gradient import loss, pack, Packed, unpack


ONE_THREAD = {"xla_cpu_multi_thread_eigen": False}
"""Products of one small network are not shared between threads: to ask costs a tenth."""


class PairRun(eqx.Module):
    """One training to be done: where it starts and which pairs it is taught."""

    net: GatedLinear
    T: Float[np.ndarray, "outputs inputs"] = eqx.field(converter=checked_pairs)

    def __check_init__(self):
        if len(self.T) != (L := self.net.sizes[0]):
            raise ValueError(f"T is for {len(self.T)} languages, the network has {L}")


class PairFit(eqx.Module):
    r"""The weights and how a training ended; `loss` is $\Lambda$ on the taught pairs, from the blocks
    in float64, and `time` that of the flow of $\Lambda$, 0 for SGD."""

    net: GatedLinear
    loss: float
    ending: Literal["converged", "out of steps", "diverged"]
    steps: int
    time: float


class Lane(NamedTuple):
    """What one training carries along; `memory` is what its way down needs besides."""

    weights: Packed
    T: Float[Array | np.ndarray, "*lanes outputs inputs"]
    loss: Float[Array | np.ndarray, "*lanes"]
    steps: Int[Array | np.ndarray, "*lanes"]
    time: Float[Array | np.ndarray, "*lanes"]
    memory: Any


def exact_loss(net: GatedLinear, T: Float[np.ndarray, "outputs inputs"], mask: Mask) -> float:
    r"""$\Lambda$ over the pairs in `T`, from the blocks, in float64."""
    with double():
        pairs = jnp.asarray(np.asarray(T, dtype=float))
        return float(loss(as_double(pack(net, mask)), pairs, mask))


def over_lanes(advance: Callable[[Lane], Lane]) -> Callable[[Lane], Lane]:
    """Compiled `vmap`, except for a single lane, whose products stay plain ones."""

    def advance_batch(batch: Lane) -> Lane:
        if len(batch.loss) > 1:
            return jax.vmap(advance)(batch)
        alone = advance(jax.tree.map(lambda a: a[0], batch))
        return jax.tree.map(lambda a: a[None], alone)

    return jax.jit(advance_batch, compiler_options=ONE_THREAD)


def train_pairs(
    runs: Sequence[PairRun],
    *,
    mask: Mask,
    stop: float,
    limit: int = 500_000,
    width: int = 4,
    precision: str,
    memory: Callable[[PairRun, Packed], Any],
    advance: Callable[[Lane], Lane],
) -> Iterator[tuple[int, PairFit]]:
    """Each run until its loss is at most `stop`, as soon as it is there: `(index, fit)`.

    `limit` bounds the steps, `width` runs are trained side by side. `memory` gives what a run
    needs besides its weights; `advance` moves a batch by one chunk and is one compiled program.
    """
    sizes = list(dict.fromkeys(run.net.sizes for run in runs))
    if len(sizes) > 1:
        seen = f"L, D, H = {sizes[0]} and {sizes[1]}"
        raise ValueError(f"runs that are trained together must have one size, got {seen}")
    for _, D, H in sizes:
        if mask == "full" and H < D and stop <= (least := (D - H) / (2 * D)):
            raise ValueError(
                f"H = {H} < D = {D} is infeasible: a block W_o W_h W_i has rank at most {H}, "
                f"so the loss stays above {least:.3g}, got the stop {stop:g}"
            )
    number = lambda value: np.asarray(value, dtype=precision)
    scope = double if precision == "float64" else nullcontext

    def start(run: PairRun) -> Lane:
        weights = jax.tree.map(number, pack(run.net, mask))
        kept = jax.tree.map(number, memory(run, weights))
        return Lane(weights, number(run.T), number(1.0), np.zeros((), np.int32), number(0.0), kept)

    places: list[int | None] = [None] * width
    waiting, batch = iter(range(len(runs))), None
    while True:
        for place in [place for place, index in enumerate(places) if index is None]:
            if (index := next(waiting, None)) is None:
                break
            places[place], lane = index, start(runs[index])
            if batch is None:
                # Empty places hold copies: shapes stay as they were compiled.
                batch = jax.tree.map(lambda a: np.stack([a] * width), lane)
            for rows, row in zip(*map(jax.tree.leaves, (batch, lane)), strict=True):
                rows[place] = row
        if batch is None or places == [None] * width:
            return
        with scope():
            batch = jax.tree.map(np.array, advance(batch))
        # `not above` is also true of NaN: a lane that diverged is done.
        ended = ~(batch.loss > stop) | (batch.steps >= limit)
        for place, index in enumerate(places):
            if index is not None and ended[place]:
                places[place] = None
                lane = jax.tree.map(lambda a, at=place: a[at].copy(), batch)
                net, end, ending = as_numpy(unpack(lane.weights, mask)), float("nan"), "diverged"
                if np.isfinite(lane.loss):
                    end = exact_loss(net, runs[index].T, mask)
                    ending = "converged" if lane.loss <= stop else "out of steps"
                yield index, PairFit(net, end, ending, int(lane.steps), float(lane.time))
