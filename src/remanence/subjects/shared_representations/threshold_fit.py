"""The share of taught pairs at which half of the runs generalise, with its error."""

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from .training_cells import by_scale, generalises


WIDTHS = np.geomspace(0.002, 0.3, 24)
DRAWS = 400


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


def thresholds_by_scale(found: xr.Dataset) -> xr.Dataset:
    """Thresholds at every σ, connectivity's on the same graphs, and how far above it.

    Errors come from drawing the graphs again. A run that did not reach the training loss
    counts as one that does not generalise. A threshold that is not reached within the
    shares that were taught is infinite, and so is an error that this leaves unknown.
    """
    parts = by_scale(found)
    first = next(iter(parts.values()))
    share, count = taught_share(first), first.sizes["cell"]
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=DRAWS)
    weights = np.vstack([np.ones(count), drawn])
    joined = logistic_threshold(share, first.connected.values == 1, weights)
    reached = [
        logistic_threshold(share, generalises(part).values, weights) for part in parts.values()
    ]
    columns = {"threshold": reached, "above": [values - joined for values in reached]}
    middles = {n: [float(v[0]) for v in rows] for n, rows in columns.items()}
    errors = {f"{n}_error": [_spread(v[1:]) for v in rows] for n, rows in columns.items()}
    return xr.Dataset(
        {name: ("scale", values) for name, values in (middles | errors).items()},
        {"scale": list(parts)},
    ).assign(connected=float(joined[0]), connected_error=_spread(joined[1:]))


def taught_share(found: xr.Dataset, languages: int = 10) -> Float[np.ndarray, " cell"]:
    """The pairs that were taught over all, which the nominal fraction rounds down to."""
    return np.floor(found.fraction.values * languages**2) / languages**2
