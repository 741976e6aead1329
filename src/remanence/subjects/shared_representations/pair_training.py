r"""Three ways down the loss $\Lambda = \frac{1}{2D|T|}\|(W_oW_hW_i - J\otimes I)\odot M\|^2$.

All three take the same runs and give back the same records, each as soon as it is
done: the document's momentum SGD (`momentum_sgd`), descent with a step that is
made safe (`safe_descent`), and gradient flow (`gradient_flow`).
"""

from collections.abc import Sequence
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..._precision import as_double, as_numpy, double
from .gated_linear import GatedLinear, smallest_scale
from .language_pairs import checked_pairs, Mask
from .pair_gradient import loss, Packed, packed, unpacked


Ending = Literal["converged", "out of steps", "diverged", "stalled", "out of time"]


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
    time for $\Lambda$. `drift` is the largest change of a conserved quantity over the
    largest of its terms at the end.
    """

    net: GatedLinear
    loss: float
    ending: Ending
    steps: int
    time: float
    drift: float
    precision: str


def weight_size(run: PairRun) -> float:
    """The root mean square of the weights that a run starts from: its σ, as drawn."""
    # No BLAS: its threads would go on spinning on the core of the training.
    flat = [np.asarray(w, dtype=float) for w in jax.tree.leaves(run.net)]
    squares = sum(float((w * w).sum()) for w in flat)
    return float(np.sqrt(squares / sum(w.size for w in flat)))


def checked_runs(
    runs: Sequence[PairRun], *, mask: Mask, stop: float, precision: str, every: int
) -> None:
    """Refuse what no training can reach, in one sentence."""
    if mask not in ("full", "diagonal"):
        raise ValueError(f"mask must be full or diagonal, got {mask!r}")
    if precision not in ("auto", "float32", "float64"):
        raise ValueError(f"precision must be float32 or float64, got {precision!r}")
    if type(every) is not int or every < 1:
        raise ValueError(f"every must be a whole number from 1 on, got {every!r}")
    if not stop > 0.0:
        raise ValueError(f"the loss to stop at must be positive, got {stop}")
    for run in runs:
        _, D, H = run.net.sizes
        if run.net.sizes != runs[0].net.sizes:
            raise ValueError(
                "runs that are trained together must have one size, got L, D, H = "
                f"{runs[0].net.sizes} and {run.net.sizes}"
            )
        size = weight_size(run)
        if precision == "float32" and size < smallest_scale("float32"):
            raise ValueError(
                f"weights of size {size:.0e} underflow in float32 (their first "
                f"gradients are about {size**2:.0e}); train in float64, or the "
                "toy in log scale"
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


def as_fit(
    weights: Packed,
    run: PairRun,
    mask: Mask,
    ending: Ending,
    *,
    steps: Any,
    time: Any,
    precision: str,
) -> PairFit:
    """The record of a lane that has come to its end."""
    net = as_numpy(unpacked(weights, mask))
    price = drift = float("nan")
    if ending != "diverged":
        price = exact_loss(net, run.T, mask)
        with double():
            begin, end = as_double(run.net), as_double(net)
            pairs = zip(begin.conserved(), end.conserved(), strict=True)
            moved = max(float(jnp.abs(b - a).max()) for a, b in pairs)
            drift = moved / max(float(jnp.sum(w * w)) for w in jax.tree.leaves(end))
    return PairFit(net, price, ending, int(steps), float(time), drift, precision)
