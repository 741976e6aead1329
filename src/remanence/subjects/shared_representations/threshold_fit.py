"""The share of taught pairs at which half of the runs generalise, with its error."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from .training_cells import by_scale, generalises


WIDTHS = np.geomspace(0.002, 0.3, 24)
DRAWS = 400


class Thresholds(NamedTuple):
    """Thresholds by σ, connectivity's on the same graphs, and how far above it they lie.

    A threshold that is not reached within the shares that were taught is infinite, and
    so is an error that this leaves unknown.
    """

    thresholds: list[float]
    errors: list[float]
    connected: float
    connected_error: float
    above: list[float]
    above_errors: list[float]


def logistic_threshold(
    share: Float[np.ndarray, " graphs"],
    hit: Bool[np.ndarray, " graphs"],
    weights: Float[np.ndarray, "draws graphs"],
) -> Float[np.ndarray, " draws"]:
    """Where the likeliest rising logistic curve passes ½, for every row of weights.

    All curves of a grid are tried, so that nothing has to converge where the shares
    part the two kinds of graph completely.
    """
    middles = np.arange(share.min(), share.max() + 5e-4, 1e-3)
    z = (share[:, None, None] - middles[:, None]) / WIDTHS
    curves = (middles.size, WIDTHS.size)
    on, off = (-np.logaddexp(0.0, s * z).reshape(share.size, -1) for s in (-1, 1))
    likelihood = (weights * hit) @ on + (weights * ~hit) @ off
    best = np.unravel_index(likelihood.argmax(axis=1), curves)[0]
    return np.where(best == middles.size - 1, np.inf, middles[best])


def _spread(values: Float[np.ndarray, " draws"]) -> float:
    """Half of the interval that holds the middle 68 % of the draws."""
    low, high = np.quantile(values, (0.16, 0.84), method="nearest")
    return float((high - low) / 2) if np.isfinite(high) else float("inf")


def thresholds_by_scale(found: xr.Dataset) -> Thresholds:
    """Thresholds on the same graphs at every σ, the largest first.

    Errors come from drawing the graphs again. A run that did not reach the training loss
    counts as one that does not generalise.
    """
    parts = list(by_scale(found).values())
    share, connected = taught_share(parts[0]), parts[0].connected.values == 1
    rng = np.random.default_rng(0)
    count = share.size
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=DRAWS)
    weights = np.vstack([np.ones(count), drawn])
    joined = logistic_threshold(share, connected, weights)
    reached = [
        logistic_threshold(share, generalises(part).values, weights) for part in parts
    ]
    above = [values - joined for values in reached]
    return Thresholds(
        [float(values[0]) for values in reached],
        [_spread(values[1:]) for values in reached],
        float(joined[0]),
        _spread(joined[1:]),
        [float(values[0]) for values in above],
        [_spread(values[1:]) for values in above],
    )


def taught_share(found: xr.Dataset, languages: int = 10) -> Float[np.ndarray, " cell"]:
    """The pairs that were taught over all, which the nominal fraction rounds down to."""
    return np.floor(found.fraction.values * languages**2) / languages**2
