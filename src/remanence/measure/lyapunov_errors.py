r"""The error of a rate over a correlated series, by batch means.

Batch $i$ grows by $g_i$ in $n_i$ steps. The rate $\lambda = \sum g_i / \sum n_i$ has
the residuals $e_i = g_i - \lambda n_i$ and the squared error
$\frac{b}{b-1} \sum e_i^2 / (\sum n_i)^2$, if the batches outlast the memory of the
series. What is left of it shows as correlation $\rho$ between neighbours, and
lengthens the error by $\sqrt{(1 + \rho) / (1 - \rho)}$.
"""

import dataclasses

import numpy as np
from jaxtyping import Float, Int


@dataclasses.dataclass(frozen=True)
class BatchMeans:
    """A rate with its standard error and what is left to doubt."""

    mean: Float[np.ndarray, " k"]
    stderr: Float[np.ndarray, " k"]
    dof: int
    correlation: Float[np.ndarray, " k"]
    """Correlation between neighbouring batches, corrected for its bias."""
    drift: Float[np.ndarray, " k"]
    """Second half minus first half, in units of its own standard error."""


def batch_means(
    growth: Float[np.ndarray, "sequences batches k"],
    steps: Int[np.ndarray, "sequences batches"],
) -> BatchMeans:
    """The growth per step, with the error that the scatter of the batches implies."""
    n = steps[..., None]
    batches = int((steps > 0).sum())
    total = steps.sum()
    mean = growth.sum(axis=(0, 1)) / total
    # A direction that died has no scatter: its rate is -inf, and that is exact.
    alive = np.isfinite(mean)
    growth, rate = np.where(alive, growth, 0.0), np.where(alive, mean, 0.0)
    k = len(mean)
    if batches < 2:
        lost = np.where(alive, np.inf, 0.0)
        return BatchMeans(mean, lost, 0, np.zeros(k), np.zeros(k))
    e = growth - rate * n
    square = (e**2).sum(axis=(0, 1))
    # Below the rounding of the sums themselves a scatter means nothing.
    rounding = 1e-13 * (np.abs(growth).sum(axis=(0, 1)) + 1e-3 * total)
    still = ~alive | (np.sqrt(square) <= rounding)
    safe = np.where(still, 1.0, square)
    # The sample correlation of an uncorrelated series is -1/batches on average.
    neighbours = (e[:, 1:] * e[:, :-1]).sum(axis=(0, 1)) / safe
    rho = np.where(still, 0.0, neighbours + 1.0 / batches)
    held = np.clip(rho, 0.0, 0.9)
    variance = square * batches / (batches - 1) * (1 + held) / (1 - held)
    stderr = np.where(still, 0.0, np.sqrt(variance) / total)
    half = growth.shape[1] // 2
    drift = np.zeros(k)
    if half and steps[:, -half:].sum() > 0:
        first, second = (
            growth[:, part].sum(axis=(0, 1)) / steps[:, part].sum()
            for part in (slice(half), slice(-half, None))
        )
        drift = np.where(still, 0.0, (second - first) / np.where(still, 1, 2 * stderr))
    return BatchMeans(mean, stderr, batches - 1, rho, drift)
