r"""How few singular directions a weight matrix needs, $W_r = \sum_{i \le r} \sigma_i u_i v_i^\top$."""

import dataclasses
from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from .fourier import spectrum


@dataclasses.dataclass(frozen=True)
class LowRank:
    """A matrix cut to each rank, and what is left of the accuracy.

    `rank` is the smallest that keeps `target` (None if none tried did), `energy`
    the share of the squared singular values that it holds, and `settled` the
    smallest from which every greater rank tried keeps it too.
    """

    singular_values: Float[np.ndarray, " values"]
    accuracies: Float[np.ndarray, " ranks"]
    target: float
    rank: int | None
    settled: int | None
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
    most = len(s) if up_to is None else min(up_to, len(s))
    tried = np.array([accuracy((u[:, :r] * s[:r]) @ vt[:r]) for r in range(1, most + 1)])
    keeps = tried >= target
    rank = int(np.argmax(keeps)) + 1 if keeps.any() else None
    fails = np.flatnonzero(~keeps)
    settled = int(fails[-1]) + 2 if len(fails) else 1
    energy = None if rank is None else float((s[:rank] ** 2).sum() / (s**2).sum())
    settled = settled if settled <= most else None
    return LowRank(s, tried, target, rank, settled, energy)


def vector_frequencies(
    vectors: Float[np.ndarray, "period vectors"],
) -> tuple[Int[np.ndarray, " vectors"], Float[np.ndarray, " vectors"]]:
    """The strongest frequency of each column, and the share of its energy found there."""
    energies = np.stack([spectrum(column)[1:] for column in vectors.T], axis=1)
    total = ((vectors - vectors.mean(0)) ** 2).sum(0)
    best = energies.argmax(0)
    return best + 1, energies.max(0) / total
