"""Small networks trained on random graphs (full mask, flow, H = D and H > D), and thresholds."""

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from ...report import Bench
from .config import Config
from .training_cells import by_scale, Cell, generalises, table


WIDTHS = np.geomspace(0.002, 0.3, 24)  # widths of the logistic curves that are tried
DRAWS = 400
FRESH = 40_000  # wide graphs with seeds from here on were first drawn when rule and σ were settled


def _cells(
    config: Config, scales: tuple[float, ...], count: int, first_seed: int, *, factor: int
) -> list[Cell]:
    """`count` graphs at every σ, a seed each, with `factor` times as many units as words."""
    # Spread over the range in which both kinds of graph occur.
    fractions = np.round(0.161 + 0.25 * np.arange(count) / max(count - 1, 1), 4).tolist()
    D = config.graph_words
    sizes = {"languages": config.languages, "words": D, "units": factor * D}
    return [
        Cell(fraction=fraction, scale=scale, seed=seed, mask="full", way="flow", **sizes)
        for scale in scales
        for seed, fraction in enumerate(fractions, start=first_seed)
    ]


def square_graphs(config: Config, bench: Bench) -> xr.Dataset:
    """H = D: one graph a seed, at every σ."""
    count = config.graphs // len(config.graph_scales)
    cells = _cells(config, config.graph_scales, count, 1_000, factor=1)
    return table("graphs, H = D", cells, bench, stop=1e-6, limit=config.graph_limit, width=16)


def wide_graphs(config: Config, bench: Bench) -> xr.Dataset:
    """H = 2D: the same graphs at every σ."""
    cells: list[Cell] = []
    for first_seed in 25_000 + 5_000 * np.arange(config.wide_blocks):
        cells += _cells(config, config.wide_scales, config.wide_graphs, int(first_seed), factor=2)
    return table("graphs, H > D", cells, bench, stop=1e-6, limit=config.wide_limit, width=16)


def fresh_graphs(wide: xr.Dataset) -> xr.Dataset:
    """The graphs that no choice was made on; all of them in a profile without such."""
    later = wide.isel(cell=np.flatnonzero(wide.seed.values >= FRESH))
    return later if later.sizes["cell"] else wide


def taught_share(found: xr.Dataset, languages: int = 10) -> Float[np.ndarray, " cell"]:
    """The pairs that were taught over all, which the nominal fraction rounds down to."""
    return np.floor(found.fraction.values * languages**2) / languages**2


def logistic_threshold(
    share: Float[np.ndarray, " graphs"],
    hit: Bool[np.ndarray, " graphs"],
    weights: Float[np.ndarray, "draws graphs"],
) -> Float[np.ndarray, " draws"]:
    """Where the likeliest rising logistic curve of a grid passes ½, for every row of weights:
    nothing has to converge where the shares part the two kinds of graph completely."""
    middles = np.arange(share.min(), share.max() + 5e-4, 1e-3)
    z = (share[:, None, None] - middles[:, None]) / WIDTHS
    on, off = (-np.logaddexp(0.0, s * z).reshape(share.size, -1) for s in (-1, 1))
    likelihood = (weights * hit) @ on + (weights * ~hit) @ off
    best = likelihood.argmax(axis=1) // WIDTHS.size
    return np.where(best == middles.size - 1, np.inf, middles[best])


def _spread(values: Float[np.ndarray, " draws"]) -> float:
    """Half of the interval that holds the middle 68 % of the draws."""
    low, high = np.quantile(values, (0.16, 0.84), method="nearest")
    return float((high - low) / 2) if np.isfinite(high) else float("inf")


def thresholds_by_scale(found: xr.Dataset) -> xr.Dataset:
    """Thresholds at every σ, connectivity's on the same graphs, and how far above it, with errors
    from drawing the graphs again. Infinite are thresholds that are not reached within the shares
    that were taught, and errors that this leaves unknown."""
    parts = by_scale(found)
    first = next(iter(parts.values()))
    share, count = taught_share(first), first.sizes["cell"]
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=DRAWS)
    weights = np.vstack([np.ones(count), drawn])
    joined = logistic_threshold(share, first.connected.values == 1, weights)
    columns = {"threshold": [], "above": [], "threshold_error": [], "above_error": []}
    for part in parts.values():
        reached = logistic_threshold(share, generalises(part).values, weights)
        for name, values in (("threshold", reached), ("above", reached - joined)):
            columns[name].append(float(values[0]))
            columns[f"{name}_error"].append(_spread(values[1:]))
    return xr.Dataset(
        {name: ("scale", values) for name, values in columns.items()}, {"scale": list(parts)}
    ).assign(connected=float(joined[0]), connected_error=_spread(joined[1:]))
