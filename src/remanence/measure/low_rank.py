r"""How few singular directions a weight matrix needs, $W_r = \sum_{i \le r} \sigma_i u_i v_i^\top$."""

import dataclasses
from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from .fourier import spectrum


@dataclasses.dataclass(frozen=True)
class LowRank:
    """A matrix cut to each rank, and what is left of the accuracy.

    `rank` is the smallest that keeps the target (None if none tried did), `energy` the share of
    the squared singular values that it holds.
    """

    singular_values: Float[np.ndarray, " values"]
    accuracies: Float[np.ndarray, " ranks"]
    rank: int | None
    energy: float | None


def smallest_rank(
    W: Float[np.ndarray, "rows columns"],
    accuracy: Callable[[Float[np.ndarray, "rows columns"]], float],
    *,
    target: float = 1.0,
    up_to: int | None = None,
) -> LowRank:
    """Try ranks 1, 2, … and find the smallest whose matrix keeps the target accuracy."""
    u, s, vt = np.linalg.svd(W, full_matrices=False)
    tried = np.array([accuracy((u[:, :r] * s[:r]) @ vt[:r]) for r in range(1, len(s[:up_to]) + 1)])
    if not (tried >= target).any():
        return LowRank(s, tried, None, None)
    rank = int(np.argmax(tried >= target)) + 1
    return LowRank(s, tried, rank, float((s[:rank] ** 2).sum() / (s**2).sum()))


def vector_frequencies(
    vectors: Float[np.ndarray, "period vectors"],
) -> tuple[Int[np.ndarray, " vectors"], Float[np.ndarray, " vectors"]]:
    """The strongest frequency of each column, and the share of its energy found there."""
    energies = np.stack([spectrum(column)[1:] for column in vectors.T], axis=1)
    total = ((vectors - vectors.mean(0)) ** 2).sum(0)
    best = energies.argmax(0)
    return best + 1, energies.max(0) / total
