r"""Three ways down the loss $\Lambda = \frac{1}{2D|T|}\|(W_oW_hW_i - J\otimes I)\odot M\|^2$.

All three take the same runs and give back the same records, each as soon as it is
done: the document's momentum SGD (`momentum_sgd`), descent with a step that is
made safe (`safe_descent`), and gradient flow (`gradient_flow`).
"""

from collections.abc import Sequence
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from ..._precision import as_double, as_numpy, double
from .gated_linear import GatedLinear, relabelled, smallest_scale
from .language_pairs import checked_pairs, Mask
from .pair_gradient import Packed, packed, squared_error, unpacked


Ending = Literal["converged", "out of steps", "diverged", "stalled", "out of time"]


class PairRun(eqx.Module):
    r"""One training to be done: where it starts and which pairs it is taught.

    `words` are the dictionaries $\Pi_k$ (word $i$ is called `words[k][i]` in language
    $k$); without them every language calls it $i$.
    """

    net: GatedLinear
    T: Float[np.ndarray, "outputs inputs"] = eqx.field(converter=checked_pairs)
    words: Int[np.ndarray, "languages words"] | None = None

    def __check_init__(self):
        L, D, _ = self.net.sizes
        sizes = [np.abs(np.asarray(w)).max() for w in jax.tree.leaves(self.net)]
        if not np.isfinite(sizes).all():
            raise ValueError("the weights to start from must be finite numbers")
        if sizes.count(0.0) > 1:
            raise ValueError(
                f"{sizes.count(0.0)} of the three factors are zero, so no gradient ever "
                "moves them; start from small weights"
            )
        if self.words is not None and (
            self.words.shape != (L, D)
            or (np.sort(self.words, axis=1) != np.arange(D)).any()
        ):
            raise ValueError(
                f"words must hold {L} permutations of {D} words, "
                f"got shape {self.words.shape}"
            )
        if self.T.shape[0] != L:
            raise ValueError(
                f"T speaks of {self.T.shape[0]} languages, the network of {L}"
            )

    @property
    def plain(self) -> GatedLinear:
        r"""The start with every dictionary undone.

        $\Pi_k W_o^k W_h W_i^l \Pi_l^\top$ is as far from $\Pi_k\Pi_l^\top$ as the plain
        block is from $I$, so the training is the same but for names.
        """
        if self.words is None:
            return self.net
        with double():
            return as_numpy(relabelled(self.net, np.argsort(self.words, axis=1)))


class PairFit(eqx.Module):
    r"""A finished training: the weights and how it ended.

    `loss` is $\Lambda$ on the taught pairs, from the blocks in float64. `steps`
    were taken with `effort` gradients in all; `time` is flow time for $\Lambda$.
    `drift` is the largest change of a conserved quantity over the largest of its
    terms at the end: of the flow the largest along the way, of descent that at the end.
    """

    net: GatedLinear
    loss: float
    ending: Ending
    steps: int
    effort: int
    time: float
    drift: float
    precision: str = "float64"


def size(run: PairRun) -> float:
    """The root mean square of the weights that a run starts from: its σ, as drawn."""
    # No BLAS: its threads would go on spinning on the core of the training.
    flat = [np.asarray(w, dtype=float) for w in jax.tree.leaves(run.net)]
    squares = sum(float((w * w).sum()) for w in flat)
    return float(np.sqrt(squares / sum(w.size for w in flat)))


def checked_runs(
    runs: Sequence[PairRun],
    *,
    mask: Mask,
    stop: float,
    width: int,
    precision: str,
    every: int = 1,
) -> None:
    """Refuse what no training can reach, in one sentence."""
    if mask not in ("full", "diagonal"):
        raise ValueError(f"mask must be full or diagonal, got {mask!r}")
    if precision not in ("auto", "float32", "float64"):
        raise ValueError(f"precision must be float32 or float64, got {precision!r}")
    for name, value in (("width", width), ("every", every)):
        if type(value) is not int or value < 1:
            raise ValueError(f"{name} must be a whole number from 1 on, got {value!r}")
    if not stop > 0.0:
        raise ValueError(f"the loss to stop at must be positive, got {stop}")
    for run in runs:
        if run.net.sizes != runs[0].net.sizes:
            raise ValueError(
                "runs that are trained together must have one size, got L, D, H = "
                f"{runs[0].net.sizes} and {run.net.sizes}"
            )
        if precision == "float32" and size(run) < smallest_scale("float32"):
            raise ValueError(
                f"weights of size {size(run):.0e} underflow in float32 (their first "
                f"gradients are about {size(run) ** 2:.0e}); train in float64, or the "
                "toy in log scale"
            )
        _, D, H = run.net.sizes
        if mask == "full" and H < D and stop <= (D - H) / (2 * D):
            raise ValueError(
                f"H = {H} < D = {D} is infeasible: a block W_o W_h W_i has rank at "
                f"most {H} and the identity rank {D}, so the loss stays above "
                f"{(D - H) / (2 * D):.3g}, got the stop {stop:g}"
            )


def exact_loss(net: GatedLinear, T: Float[np.ndarray, "outputs inputs"], mask: Mask):
    r"""$\Lambda$ over the pairs in `T`, from the blocks, in float64."""
    with double():
        weights = as_double(packed(net, mask))
        square = squared_error(weights, jnp.asarray(np.asarray(T, dtype=float)), mask)
        return float(square) / (2 * net.sizes[1] * float(np.sum(T)))


def conservation_drift(
    start: GatedLinear, end: GatedLinear, *, along_the_way: float = 0.0
) -> float:
    """How far the conserved quantities moved, over the largest of their terms."""
    with double():
        before, after = as_double(start).conserved(), as_double(end).conserved()
        moved = max(
            float(jnp.abs(b - a).max()) for a, b in zip(before, after, strict=True)
        )
        largest = max(float(jnp.sum(w * w)) for w in jax.tree.leaves(as_double(end)))
    return max(moved, along_the_way) / largest


def as_fit(
    weights: Packed,
    run: PairRun,
    mask: Mask,
    *,
    ending: Ending,
    moved: float = 0.0,
    **told,
) -> PairFit:
    """The record of a lane that has come to its end."""
    with double():
        net = as_numpy(unpacked(weights, mask))
    if ending == "diverged":
        loss, drift = float("nan"), float("nan")
    else:
        loss = exact_loss(net, run.T, mask)
        drift = conservation_drift(run.plain, net, along_the_way=moved)
    if run.words is not None:
        with double():
            net = as_numpy(relabelled(net, run.words))
    return PairFit(net, loss, ending, drift=drift, **told)
