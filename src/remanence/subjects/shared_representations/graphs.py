"""Experiment 3: the threshold over many graphs; H = D and H > D."""

import numpy as np
import xarray as xr

from ...report import Bench
from .cells import Cell, table
from .config import Config


SINGLE = 0.281
"""The one fraction at which a larger H > D is followed down in σ: 28 pairs of 100."""


def _fractions(count: int) -> np.ndarray:
    # Spread over the range in which both kinds of graph occur.
    return np.round(0.161 + 0.25 * np.arange(count) / max(count - 1, 1), 4)


def counted(config: Config) -> str:
    """How many distinct graphs are drawn, and how many runs they make."""
    square, wide = _square_graphs(config), config.wide_blocks * config.wide_graphs
    single = config.single_graphs
    return (
        f"{square} graphs with H = D ({square * len(config.graph_scales)} runs), "
        f"{wide} with H > D ({wide * len(config.wide_scales)}), "
        f"{single} of one fraction ({single * len(config.single_scales)}), "
        f"{config.path_graphs} for paths ({config.path_graphs * len(config.path_stops)})"
    )


def _square_graphs(config: Config) -> int:
    return config.graphs // len(config.graph_scales)


def square(config: Config, bench: Bench) -> xr.Dataset:
    """Full mask, H = D: one graph a seed, at every σ."""
    cells = [
        _cell(config, float(fraction), scale, 1_000 + i, factor=1)
        for scale in config.graph_scales
        for i, fraction in enumerate(_fractions(_square_graphs(config)))
    ]
    return _flowed("graphs, H = D", cells, bench, limit=config.graph_limit)


def wide(config: Config, bench: Bench) -> xr.Dataset:
    """Full mask, H > D: the same graphs at every σ."""
    cells = [
        _cell(config, float(fraction), scale, seed, factor=config.wide_factor)
        for block in range(config.wide_blocks)
        for scale in config.wide_scales
        for seed, fraction in enumerate(
            _fractions(config.wide_graphs), start=25_000 + 5_000 * block
        )
    ]
    return _flowed("graphs, H > D", cells, bench, limit=config.wide_limit)


def single_fraction(config: Config, bench: Bench) -> xr.Dataset:
    """Full mask, H > D, more words: several graphs of one fraction, at every σ."""
    cells = [
        _cell(
            config,
            SINGLE,
            scale,
            50_000 + i,
            factor=config.wide_factor,
            words=config.single_words,
        )
        for scale in config.single_scales
        for i in range(config.single_graphs)
    ]
    return _flowed("graphs, H > D, one fraction", cells, bench, limit=config.wide_limit)


def _cell(
    config: Config,
    fraction: float,
    scale: float,
    seed: int,
    *,
    factor: int,
    words: int | None = None,
) -> Cell:
    words = config.graph_words if words is None else words
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


def _flowed(name: str, cells: list[Cell], bench: Bench, *, limit: int) -> xr.Dataset:
    return table(name, cells, bench, stop=1e-6, limit=limit, width=16)
