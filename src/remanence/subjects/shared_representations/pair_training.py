r"""Trainings on pairs of languages: what is to be done, what came of it, and lanes side by side.

Both ways down $\Lambda = \frac{1}{2D|T|}\|(W_oW_hW_i - J\otimes I)\odot M\|^2$, the document's
`momentum_sgd` and `gradient_flow`, take the same runs and yield the same records. Runs of one
sweep differ in length a hundredfold, so in a batch the next run takes a finished one's place;
its width is fixed, so that a run's bits do not depend on who is beside it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ..._precision import as_double, as_numpy, double
from .gated_linear import GatedLinear
from .language_pairs import checked_pairs, Mask
from .pair_gradient import loss, Packed, packed, unpacked


Ending = Literal["converged", "out of steps", "diverged", "out of time"]
Precision = Literal["float32", "float64"]
Lane = Any
"""A pytree of arrays: everything that one training carries along."""
Advance = Callable[[Lane], tuple[Lane, Bool[np.ndarray, " width"]]]
ONE_THREAD = {"xla_cpu_multi_thread_eigen": False}
"""Products of one small network are not shared between threads: to ask costs a tenth."""


class PairRun(eqx.Module):
    """One training to be done: where it starts and which pairs it is taught."""

    net: GatedLinear
    T: Float[np.ndarray, "outputs inputs"] = eqx.field(converter=checked_pairs)

    def __check_init__(self):
        L = self.net.sizes[0]
        sizes = [np.abs(np.asarray(w)).max() for w in jax.tree.leaves(self.net)]
        if not np.isfinite(sizes).all():
            raise ValueError("the weights to start from must be finite numbers")
        if sizes.count(0.0) > 1:
            raise ValueError(
                f"{sizes.count(0.0)} of the three factors are zero, so no gradient ever "
                "moves them; start from small weights"
            )
        if self.T.shape[0] != L:
            raise ValueError(f"T speaks of {self.T.shape[0]} languages, the network of {L}")


class PairFit(eqx.Module):
    r"""A finished training: the weights and how it ended.

    `loss` is $\Lambda$ on the taught pairs, from the blocks in float64; `time` is flow
    time for $\Lambda$.
    """

    net: GatedLinear
    loss: float
    ending: Ending
    steps: int
    time: float
    precision: Precision


def weight_size(run: PairRun) -> float:
    """The root mean square of the weights that a run starts from: its σ, as drawn."""
    # No BLAS: its threads would go on spinning on the core of the training.
    flat = [np.asarray(w, dtype=float) for w in jax.tree.leaves(run.net)]
    squares = sum(float((w * w).sum()) for w in flat)
    return float(np.sqrt(squares / sum(w.size for w in flat)))


def check_runs(runs: Sequence[PairRun], *, mask: Mask, stop: float, precision: str) -> None:
    """Refuse what no training can reach, in one sentence."""
    if mask not in ("full", "diagonal"):
        raise ValueError(f"mask must be full or diagonal, got {mask!r}")
    if precision not in ("float32", "float64"):
        raise ValueError(f"precision must be float32 or float64, got {precision!r}")
    if not stop > 0.0:
        raise ValueError(f"the loss to stop at must be positive, got {stop}")
    for run in runs:
        _, D, H = run.net.sizes
        if run.net.sizes != runs[0].net.sizes:
            raise ValueError(
                "runs that are trained together must have one size, got L, D, H = "
                f"{runs[0].net.sizes} and {run.net.sizes}"
            )
        if mask == "full" and H < D and stop <= (D - H) / (2 * D):
            raise ValueError(
                f"H = {H} < D = {D} is infeasible: a block W_o W_h W_i has rank at "
                f"most {H} and the identity rank {D}, so the loss stays above "
                f"{(D - H) / (2 * D):.3g}, got the stop {stop:g}"
            )


def exact_loss(net: GatedLinear, T: Float[np.ndarray, "outputs inputs"], mask: Mask) -> float:
    r"""$\Lambda$ over the pairs in `T`, from the blocks, in float64."""
    with double():
        pairs = jnp.asarray(np.asarray(T, dtype=float))
        return float(loss(as_double(packed(net, mask)), pairs, mask))


def fit_record(
    weights: Packed, run: PairRun, mask: Mask, ending: Ending, *, steps: Any, time: Any
) -> PairFit:
    """The record of a lane that has come to its end."""
    net = as_numpy(unpacked(weights, mask))
    price = float("nan") if ending == "diverged" else exact_loss(net, run.T, mask)
    return PairFit(net, price, ending, int(steps), float(time), str(weights.W.dtype))  # pyright: ignore[reportArgumentType]


def over_lanes(advance: Callable[[Lane], Lane]) -> Callable[[Lane], Lane]:
    """Compiled `vmap`, except for a single lane, whose products stay plain ones."""

    def advance_batch(batch: Lane) -> Lane:
        if jax.tree.leaves(batch)[0].shape[0] > 1:
            return jax.vmap(advance)(batch)
        alone = advance(jax.tree.map(lambda a: a[0], batch))
        return jax.tree.map(lambda a: a[None], alone)

    return jax.jit(advance_batch, compiler_options=ONE_THREAD)


def finished_lanes(
    count: int, *, start: Callable[[int], Lane], advance: Advance, width: int, precision: Precision
) -> Iterator[tuple[int, Lane]]:
    """The last state of each of `count` runs as soon as it is there: `(index, lane)`.

    `advance` moves a batch by one chunk and says which lanes are done; it is one compiled
    program.
    """
    scope = double if precision == "float64" else nullcontext
    places: list[int | None] = [None] * width
    waiting, batch = iter(range(count)), None
    while True:
        for place, index in enumerate(places):
            following = next(waiting, None) if index is None else None
            if following is None:
                continue
            places[place] = following
            with scope():
                lane = jax.tree.map(np.asarray, start(following))
            if batch is None:
                # Empty places hold copies: shapes stay as they were compiled.
                batch = jax.tree.map(lambda a: np.stack([a] * width), lane)
            for rows, row in zip(*map(jax.tree.leaves, (batch, lane)), strict=True):
                rows[place] = row
        if places == [None] * width:
            break
        with scope():
            batch, finished = jax.tree.map(np.array, advance(batch))
        for place, index in enumerate(places):
            if index is not None and finished[place]:
                places[place] = None
                yield index, jax.tree.map(lambda a, at=place: a[at].copy(), batch)
