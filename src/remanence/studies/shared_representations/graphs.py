"""Experiment 3: hundreds of graphs; H = D and H > D."""

import numpy as np
import xarray as xr

from ...report import Bench
from .cells import Cell, table
from .config import Config


def _fractions(count: int) -> np.ndarray:
    # Spread over the range in which both kinds of graph occur.
    return np.round(0.161 + 0.25 * np.arange(count) / max(count - 1, 1), 4)


def square(config: Config, bench: Bench) -> xr.Dataset:
    """Full mask, H = D: one graph a seed, at every σ."""
    cells = [
        Cell(
            fraction=float(fraction),
            scale=scale,
            seed=1_000 + i,
            mask="full",
            way="flow",
            languages=config.languages,
            words=config.graph_words,
            units=config.graph_words,
        )
        for scale in config.graph_scales
        for i, fraction in enumerate(
            _fractions(config.graphs // len(config.graph_scales))
        )
    ]
    return table(
        "graphs, H = D", cells, bench, stop=1e-6, limit=config.graph_limit, width=16
    )


def wide(config: Config, bench: Bench) -> xr.Dataset:
    """Full mask, H > D: the same graphs at every σ."""
    cells = [
        Cell(
            fraction=float(fraction),
            scale=scale,
            seed=25_000 + i,
            mask="full",
            way="flow",
            languages=config.languages,
            words=config.graph_words,
            units=config.wide_factor * config.graph_words,
        )
        for scale in config.wide_scales
        for i, fraction in enumerate(_fractions(config.wide_graphs))
    ]
    return table(
        "graphs, H > D", cells, bench, stop=1e-6, limit=config.graph_limit, width=16
    )
