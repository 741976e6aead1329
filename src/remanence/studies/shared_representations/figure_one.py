"""Experiments 1, 2 and 4: Figure 1 under both masks, what is learned, and spikes."""

import csv
import math
import os
import pathlib
from typing import Any

import numpy as np
import xarray as xr

from ...report import Bench
from .cells import Cell, document_stop, table
from .config import Config


GENERALISES = 1e-3
"""Test loss (half mean squared error a word) below which a run generalises."""
FULL_STOP = 1e-6


def grid(config: Config, mask: Any, way: Any, scales: tuple[float, ...]) -> list[Cell]:
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
        for scale in scales
        for seed in config.seeds
        for fraction in config.fractions
    ]


def figure_one(config: Config, bench: Bench) -> tuple[xr.Dataset, xr.Dataset]:
    """Diagonal mask by the document's SGD, full mask by safe descent."""
    diagonal = table(
        "figure 1, diagonal mask",
        grid(config, "diagonal", "sgd", config.scales),
        bench,
        stop=document_stop(config.words),
        limit=config.sgd_limit,
    )
    full = table(
        "figure 1, full mask",
        grid(config, "full", "descent", config.full_scales),
        bench,
        stop=FULL_STOP,
        limit=100_000,
    )
    return diagonal, full


def spikes(config: Config, diagonal: xr.Dataset, bench: Bench) -> xr.Dataset | None:
    """Connected, converged cells with a high test loss, trained again two other ways.

    A spike that a safe step and the flow do not have came from the step; one that
    they have too is real.
    """
    high = (
        (diagonal.connected == 1)
        & (diagonal.ending == 0)
        & (diagonal.test_loss > GENERALISES)
    )
    where = np.flatnonzero(high.values)[: config.spikes]
    if where.size == 0:
        return None
    again = {}
    for way in ("descent", "flow"):
        cells = [
            Cell(
                fraction=float(diagonal.fraction[i]),
                scale=float(diagonal.scale[i]),
                seed=int(diagonal.seed[i]),
                mask="diagonal",
                way=way,
                languages=config.languages,
                words=config.words,
                units=config.units,
            )
            for i in where
        ]
        again[way] = table(
            f"spikes by {way}",
            cells,
            bench,
            stop=document_stop(config.words),
            limit=150_000 if way == "descent" else 12_000,
        )
    first = diagonal.isel(cell=where)
    return xr.Dataset(
        {
            "fraction": first.fraction,
            "scale": first.scale,
            "seed": first.seed,
            "sgd": first.test_loss,
            "descent": again["descent"].test_loss,
            "flow": again["flow"].test_loss,
            "sgd_drift": first.drift,
            "descent_drift": again["descent"].drift,
            "flow_drift": again["flow"].drift,
            "flow_ending": again["flow"].ending,
            "signs": again["descent"].signs,
        }
    )


def sample_file() -> pathlib.Path | None:
    """The author's published cells, if the folder named by REMANENCE_DATA has them."""
    folder = os.environ.get("REMANENCE_DATA")
    path = pathlib.Path(folder or ".") / "gdln" / "figure1_sample.csv"
    return path if folder and path.is_file() else None


def samples(config: Config, bench: Bench) -> xr.Dataset | None:
    """The author's sample cells redone; ours beside the relative difference."""
    path = sample_file()
    if not config.samples or path is None:
        return None
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
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
    found = table(
        "the author's cells",
        cells,
        bench,
        stop=document_stop(32),
        limit=500_000,
    )
    ours = 64 * found.test_loss.values
    theirs = np.array([float(row["test_loss"]) for row in rows])
    return found.assign(
        document_loss=("cell", ours),
        relative=("cell", np.abs(ours / theirs - 1.0)),
        same_side=("cell", (ours < 1e-3) == (theirs < 1e-3)),
    )


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
