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
    count = config.graphs // len(config.graph_scales)
    cells = _cells(config, config.graph_scales, count, first=1_000, factor=1)
    return _flowed("graphs, H = D", cells, config, bench)


def wide(config: Config, bench: Bench) -> xr.Dataset:
    """Full mask, H > D: the same graphs at every σ."""
    cells = _cells(
        config,
        config.wide_scales,
        config.wide_graphs,
        first=25_000,
        factor=config.wide_factor,
    )
    return _flowed("graphs, H > D", cells, config, bench)


def _cells(
    config: Config, scales: tuple[float, ...], count: int, *, first: int, factor: int
) -> list[Cell]:
    return [
        Cell(
            fraction=float(fraction),
            scale=scale,
            seed=first + i,
            mask="full",
            way="flow",
            languages=config.languages,
            words=config.graph_words,
            units=factor * config.graph_words,
        )
        for scale in scales
        for i, fraction in enumerate(_fractions(count))
    ]


def _flowed(name: str, cells: list[Cell], config: Config, bench: Bench) -> xr.Dataset:
    return table(name, cells, bench, stop=1e-6, limit=config.graph_limit, width=16)
