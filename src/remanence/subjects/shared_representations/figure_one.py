"""Experiments 1 and 2: Figure 1 under both masks, and what is learned."""

import csv
import math
import os
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from ...report import Bench
from .cells import Cell, DOCUMENT_STEPS, document_stop, table, Way
from .config import Config
from .language_pairs import Mask


GENERALISES = 1e-3
"""Test loss (half mean squared error a word) below which a run generalises."""
FULL_STOP = 1e-6
BY_SGD = "figure 1, diagonal mask"


def grid(
    config: Config,
    mask: Mask,
    way: Way,
    scales: Sequence[float],
    fractions: Sequence[float],
) -> list[Cell]:
    """The document's grid, or the part of it that the profile takes."""
    return [
        Cell(
            fraction=fraction,
            scale=scale,
            seed=seed,
            mask=mask,
            way=way,
            languages=config.languages,
            words=config.words,
            units=config.units,
        )
        for fraction in fractions
        for scale in scales
        for seed in config.seeds
    ]


def stages(fractions: tuple[float, ...]) -> tuple[tuple[float, ...], ...]:
    """A coarse grid, then every other fraction, then all of them.

    A run that is stopped has then seen the whole range.
    """
    coarse = fractions[:: max(len(fractions) // 5, 1)]
    middle = tuple(dict.fromkeys(coarse + fractions[::2]))
    return tuple(dict.fromkeys((coarse, middle, fractions)))


def figure_one(
    config: Config,
    fractions: tuple[float, ...],
    bench: Bench,
    *,
    until: float = math.inf,
) -> tuple[xr.Dataset, xr.Dataset]:
    """Diagonal mask by the document's SGD, full mask by the profile's own way."""
    full = [
        table(
            f"figure 1, full mask, {scale:g}",
            grid(config, "full", config.full_way, [scale], fractions),
            bench,
            stop=FULL_STOP,
            limit=limit,
            width=lane_width(config),
            until=until,
        )
        for scale, limit in zip(config.full_scales, config.full_limits, strict=True)
    ]
    cells = grid(config, "diagonal", "sgd", config.scales, fractions)
    diagonal = _by_sgd(config, cells, bench, until=until)
    return diagonal, xr.concat(full, "cell", combine_attrs="identical")


def lane_width(config: Config) -> int:
    """One large lane fills the cache; small ones share the cost of a call."""
    return 1 if config.words > 16 else 4


def _by_sgd(
    config: Config, cells: Sequence[Cell], bench: Bench, *, until: float = math.inf
) -> xr.Dataset:
    return table(
        BY_SGD,
        cells,
        bench,
        stop=document_stop(config.words),
        limit=config.sgd_limit,
        width=lane_width(config),
        until=until,
    )


def sample_file() -> pathlib.Path | None:
    """The author's published cells, if the folder named by REMANENCE_DATA has them."""
    folder = os.environ.get("REMANENCE_DATA")
    path = pathlib.Path(folder or ".") / "gdln" / "figure1_sample.csv"
    return path if folder and path.is_file() else None


def samples(config: Config, bench: Bench) -> xr.Dataset | None:
    """The author's sample cells redone, as part of the grid where it has their size."""
    path = sample_file()
    if path is None:
        return None
    with path.open(newline="") as lines:
        rows = [
            row
            for row in csv.DictReader(lines)
            if float(row["init_scale"]) in config.sample_scales
        ]
    if not rows:
        return None
    cells = [
        Cell(
            fraction=float(row["train_frac"]),
            scale=float(row["init_scale"]),
            seed=int(row["seed"]),
            mask="diagonal",
            way="sgd",
        )
        for row in rows
    ]
    own = config.words == cells[0].words
    found = table(
        BY_SGD if own else "the author's cells",
        cells,
        bench,
        stop=document_stop(cells[0].words),
        limit=DOCUMENT_STEPS,
        width=lane_width(config),
    )
    ours = 2 * cells[0].words * found.test_loss.values
    theirs = np.array([float(row["test_loss"]) for row in rows])
    return found.assign(
        document_loss=("cell", ours),
        author_loss=("cell", theirs),
        relative=("cell", np.abs(ours / theirs - 1.0)),
        same_side=("cell", (ours < 1e-3) == (theirs < 1e-3)),
    )


def samples_of_the_grid(data: Mapping[str, xr.Dataset]) -> xr.Dataset | None:
    """The author's cells, if the grid has networks of their size."""
    found = data.get("samples")
    if found is None or found.words.values[0] != data["diagonal"].words.values[0]:
        return None
    return found


def thresholds(found: xr.Dataset) -> list[float]:
    """Per σ and seed, the smallest fraction from which on every run generalises."""
    out = []
    for scale in np.unique(found.scale):
        for seed in np.unique(found.seed):
            part = found.where((found.scale == scale) & (found.seed == seed), drop=True)
            part = part.sortby("fraction")
            bad = np.flatnonzero(~(part.test_loss.values < GENERALISES))
            after = bad[-1] + 1 if bad.size else 0
            values = part.fraction.values
            out.append(float(values[after]) if after < values.size else math.inf)
    return out


def by_scale(found: xr.Dataset) -> list[tuple[float, xr.Dataset]]:
    """The part at each σ, the largest first."""
    return [
        (float(scale), found.where(found.scale == scale, drop=True))
        for scale in np.unique(found.scale)[::-1]
    ]
