"""Figure 1 of the document under both masks, and its author's own cells again."""

import csv
import math
import os
import pathlib
from collections.abc import Sequence

import numpy as np
import xarray as xr

from ...report import Bench
from .config import Config
from .language_pairs import Mask
from .training_cells import by_scale, Cell, DOCUMENT_STEPS, document_stop, GENERALISES, table, Way


FULL_STOP = 1e-6
BY_SGD = "figure 1, diagonal mask"


def lane_width(config: Config) -> int:
    """One large lane fills the cache; small ones share the cost of a call."""
    return 1 if config.words > 16 else 4


def figure_cell(
    config: Config, fraction: float, scale: float, seed: int, *, mask: Mask, way: Way
) -> Cell:
    """A cell of the figure at the profile's sizes."""
    sizes = {name: getattr(config, name) for name in ("languages", "words", "units")}
    return Cell(fraction=fraction, scale=scale, seed=seed, mask=mask, way=way, **sizes)


def figure_one(config: Config, bench: Bench) -> tuple[xr.Dataset, xr.Dataset]:
    """Diagonal mask by the document's SGD, full mask by the profile's own way."""

    def cells(scales: Sequence[float], mask: Mask, way: Way) -> list[Cell]:
        return [
            figure_cell(config, fraction, scale, seed, mask=mask, way=way)
            for fraction in config.fractions
            for scale in scales
            for seed in config.seeds
        ]

    width = lane_width(config)
    full = [
        table(
            f"figure 1, full mask, {scale:g}",
            cells([scale], "full", config.full_way),
            bench,
            stop=FULL_STOP,
            limit=limit,
            width=width,
        )
        for scale, limit in zip(config.full_scales, config.full_limits, strict=True)
    ]
    diagonal = table(
        BY_SGD,
        cells(config.scales, "diagonal", "sgd"),
        bench,
        stop=document_stop(config.words),
        limit=config.sgd_limit,
        width=width,
    )
    return diagonal, xr.concat(full, "cell", combine_attrs="identical")


def author_rows(config: Config) -> list[dict[str, str]]:
    """The author's published cells, if the folder named by REMANENCE_DATA has them."""
    folder = os.environ.get("REMANENCE_DATA")
    path = pathlib.Path(folder or ".") / "gdln" / "figure1_sample.csv"
    if not folder or not path.is_file():
        return []
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [row for row in rows if float(row["init_scale"]) in config.author_scales]


def author_cells(config: Config, bench: Bench) -> xr.Dataset | None:
    """The author's cells redone, as part of the grid where it has their size."""
    rows = author_rows(config)
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
    words = cells[0].words
    found = table(
        BY_SGD if config.words == words else "the author's cells",
        cells,
        bench,
        stop=document_stop(words),
        limit=DOCUMENT_STEPS,
        width=1,
    )
    ours = 2 * words * found.test_loss.values
    theirs = np.array([float(row["test_loss"]) for row in rows])
    return found.assign(
        document_loss=("cell", ours),
        author_loss=("cell", theirs),
        relative=("cell", np.abs(ours / theirs - 1.0)),
        same_side=("cell", (ours < 1e-3) == (theirs < 1e-3)),
    )


def thresholds(found: xr.Dataset) -> list[float]:
    """Per σ and seed, the smallest fraction from which on every run generalises."""
    smallest = []
    for part in by_scale(found).values():
        for _, runs in part.groupby("seed"):
            runs = runs.sortby("fraction")
            high = np.flatnonzero(~(runs.test_loss.values < GENERALISES))
            after = high[-1] + 1 if high.size else 0
            values = [*runs.fraction.values.tolist(), math.inf]
            smallest.append(values[after])
    return smallest
