r"""Three ways down the loss $\Lambda = \frac{1}{2D|T|}\|(W_oW_hW_i - J\otimes I)\odot M\|^2$.

All three take the same runs and give back the same records, each as soon as it is
done: the document's momentum SGD (`momentum_sgd`), descent with a step that is
made safe (`safe_descent`), and gradient flow (`gradient_flow`).
"""

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ..nets.gated_linear import GatedLinear
from ..tasks.language_pairs import checked_pairs, Mask


Ending = Literal["converged", "out of steps", "diverged", "stalled"]


class PairRun(eqx.Module):
    """One training to be done: where it starts and which pairs it is taught."""

    net: GatedLinear
    T: Float[np.ndarray, "outputs inputs"]

    def __check_init__(self):
        checked_pairs(self.T)
        L, D, H = self.net.sizes
        if self.T.shape[0] != L:
            raise ValueError(
                f"T speaks of {self.T.shape[0]} languages, the network of {L}"
            )
        if H < D:
            raise ValueError(
                f"H = {H} < D = {D}: each block W_o W_h W_i has rank at most {H}, the "
                f"identity rank {D}, so the loss cannot fall below {(D - H) / (2 * D):.3g}; "
                "take H ≥ D, or rank_limited=True"
            )


class PairFit(eqx.Module):
    """A finished training: the weights and how it ended.

    `loss` is $\\Lambda$ on the taught pairs, from the blocks in float64. `effort`
    counts gradient evaluations, `time` is flow time (learning rates summed).
    `drift` is the largest change of a conserved quantity, relative to the weights.
    """

    net: GatedLinear
    loss: float
    ending: Ending
    steps: int
    effort: int
    time: float
    drift: float


class Trainer(Protocol):
    """The interface that the three ways share."""

    def __call__(
        self, runs: Sequence[PairRun], *, mask: Mask, stop: float
    ) -> Iterator[tuple[int, PairFit]]:
        """Yield `(index, fit)` as each run ends."""
        ...
