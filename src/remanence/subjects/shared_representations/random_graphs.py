"""The threshold over many random graphs, full mask, by the flow: H = D and H > D."""

import numpy as np
import xarray as xr

from ...report import Bench
from .config import Config
from .training_cells import Cell, table


SINGLE = 0.281
"""The one fraction at which a larger H > D is followed down in σ: 28 pairs of 100."""


def square_graphs(config: Config, bench: Bench) -> xr.Dataset:
    """H = D: one graph a seed, at every σ."""
    count = config.graphs // len(config.graph_scales)
    cells = [
        _cell(config, fraction, scale, seed)
        for scale in config.graph_scales
        for seed, fraction in enumerate(_fractions(count), start=1_000)
    ]
    return _by_flow("graphs, H = D", cells, bench, limit=config.graph_limit)


def wide_graphs(config: Config, bench: Bench) -> xr.Dataset:
    """H > D: the same graphs at every σ."""
    cells = [
        _cell(config, fraction, scale, seed, factor=config.wide_factor)
        for block in range(config.wide_blocks)
        for scale in config.wide_scales
        for seed, fraction in enumerate(
            _fractions(config.wide_graphs), start=25_000 + 5_000 * block
        )
    ]
    return _by_flow("graphs, H > D", cells, bench, limit=config.wide_limit)


def graphs_of_one_fraction(config: Config, bench: Bench) -> xr.Dataset:
    """H > D and more words: several graphs of one fraction, at every σ."""
    size = {"factor": config.wide_factor, "words": config.single_words}
    cells = [
        _cell(config, SINGLE, scale, seed, **size)
        for scale in config.single_scales
        for seed in range(50_000, 50_000 + config.single_graphs)
    ]
    return _by_flow(
        "graphs, H > D, one fraction", cells, bench, limit=config.wide_limit
    )


def _fractions(count: int) -> list[float]:
    # Spread over the range in which both kinds of graph occur.
    return np.round(0.161 + 0.25 * np.arange(count) / max(count - 1, 1), 4).tolist()


def _cell(
    config: Config,
    fraction: float,
    scale: float,
    seed: int,
    *,
    factor: int = 1,
    words: int = 0,
) -> Cell:
    words = words or config.graph_words
    return Cell(
        fraction=fraction,
        scale=scale,
        seed=seed,
        mask="full",
        way="flow",
        languages=config.languages,
        words=words,
        units=factor * words,
    )


def _by_flow(name: str, cells: list[Cell], bench: Bench, *, limit: int) -> xr.Dataset:
    return table(name, cells, bench, stop=1e-6, limit=limit, width=16)
