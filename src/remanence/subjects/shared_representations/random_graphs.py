"""The threshold over many random graphs, full mask, by the flow: H = D and H > D."""

import numpy as np
import xarray as xr

from ...report import Bench
from .config import Config
from .training_cells import Cell, table


SINGLE = 0.281
"""The one fraction at which a larger H > D is followed down in σ: 28 pairs of 100."""
FLOW = {"stop": 1e-6, "width": 16}


def graph_cell(
    config: Config, fraction: float, scale: float, seed: int, *, factor: int = 1, words: int = 0
) -> Cell:
    """A small network on a graph of its own, with `factor` times as many units as words."""
    words = words or config.graph_words
    sizes = {"languages": config.languages, "words": words, "units": factor * words}
    return Cell(fraction=fraction, scale=scale, seed=seed, mask="full", way="flow", **sizes)


def _fractions(count: int) -> list[float]:
    # Spread over the range in which both kinds of graph occur.
    return np.round(0.161 + 0.25 * np.arange(count) / max(count - 1, 1), 4).tolist()


def square_graphs(config: Config, bench: Bench) -> xr.Dataset:
    """H = D: one graph a seed, at every σ."""
    count = config.graphs // len(config.graph_scales)
    cells = [
        graph_cell(config, fraction, scale, seed)
        for scale in config.graph_scales
        for seed, fraction in enumerate(_fractions(count), start=1_000)
    ]
    return table("graphs, H = D", cells, bench, limit=config.graph_limit, **FLOW)


def wide_graphs(config: Config, bench: Bench) -> xr.Dataset:
    """H > D: the same graphs at every σ."""
    cells = [
        graph_cell(config, fraction, scale, seed, factor=config.wide_factor)
        for block in range(config.wide_blocks)
        for scale in config.wide_scales
        for seed, fraction in enumerate(
            _fractions(config.wide_graphs), start=25_000 + 5_000 * block
        )
    ]
    return table("graphs, H > D", cells, bench, limit=config.wide_limit, **FLOW)


def graphs_of_one_fraction(config: Config, bench: Bench) -> xr.Dataset:
    """H > D and more words: several graphs of one fraction, at every σ."""
    size = {"factor": config.wide_factor, "words": config.single_words}
    cells = [
        graph_cell(config, SINGLE, scale, seed, **size)
        for scale in config.single_scales
        for seed in range(50_000, 50_000 + config.single_graphs)
    ]
    title = "graphs, H > D, one fraction"
    return table(title, cells, bench, limit=config.wide_limit, **FLOW)
