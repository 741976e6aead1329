"""Figure 1 of the document under both masks, its spikes by the flow, and its author's cells."""

import csv
import math
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Int

from ...report import Bench
from .config import Config
from .training_cells import (
    by_scale,
    Cell,
    cell_numbers,
    DOCUMENT_STEPS,
    document_stop,
    GENERALISES,
    table,
    train_cells,
)


FULL_STOP = 1e-6
BY_SGD = "figure 1, diagonal mask"
NAMES = {"frac": float, "sigma": float, "seed": int}
SEEDS = 2**32  # so many seeds the document's generator distinguishes


def _cells(config: Config, rows: Sequence[Sequence[float]], **how: Any) -> list[Cell]:
    """A cell for each fraction, σ and seed, of the profile's size."""
    sizes = {name: getattr(config, name) for name in ("languages", "words", "units")}
    return [Cell(fraction=f, scale=s, seed=int(n), **how, **sizes) for f, s, n in rows]


def lane_width(config: Config) -> int:
    """One large lane fills the cache; small ones share the cost of a call."""
    return 1 if config.words > 16 else 4


def figure_one(config: Config, bench: Bench) -> tuple[xr.Dataset, xr.Dataset]:
    """Diagonal mask by the document's SGD, full mask by the flow, a table a σ."""
    grid = lambda *scales: [
        (f, s, n) for f in config.fractions for s in scales for n in config.seeds
    ]
    full: list[xr.Dataset] = []
    width = lane_width(config)
    for scale, limit in zip(config.full_scales, config.full_limits, strict=True):
        until = {"stop": FULL_STOP, "limit": limit, "width": width}
        cells = _cells(config, grid(scale), mask="full", way="flow")
        full.append(table(f"figure 1, full mask, {scale:g}", cells, bench, **until))
    until = {"stop": document_stop(config.words), "limit": config.sgd_limit, "width": width}
    cells = _cells(config, grid(*config.scales), mask="diagonal", way="sgd")
    diagonal = table(BY_SGD, cells, bench, **until)
    return diagonal, xr.concat(full, "cell", combine_attrs="identical")


def thresholds(found: xr.Dataset) -> list[float]:
    """Per σ and seed, the smallest fraction from which on every run generalises."""
    smallest = []
    for part in by_scale(found).values():
        for _, runs in part.groupby("seed"):
            runs = runs.sortby("fraction")
            high = np.flatnonzero(~(runs.test_loss.values < GENERALISES))
            after = high[-1] + 1 if high.size else 0
            smallest.append([*runs.fraction.values.tolist(), math.inf][after])
    return smallest


def highest_spikes(config: Config, diagonal: xr.Dataset) -> Int[np.ndarray, " spikes"]:
    """At each σ at which most connected runs generalise (not at 1e-2, where they come down slowly
    with the fraction) the tallest connected, converged cells that do not."""
    joined = (diagonal.connected == 1) & (diagonal.ending == 0)
    high = (joined & (diagonal.test_loss > GENERALISES)).values
    falling = np.argsort(-diagonal.test_loss.values, kind="stable")
    at = lambda scale: falling[(high & (diagonal.scale.values == scale))[falling]]
    return np.concatenate([at(scale)[: config.spikes] for scale in config.spike_scales])


def retrained_spikes(config: Config, diagonal: xr.Dataset, bench: Bench) -> xr.Dataset | None:
    """The highest spikes by the flow: one that it does not have came from SGD's step."""
    first = diagonal.isel(cell=highest_spikes(config, diagonal))
    if first.sizes["cell"] == 0:
        return None
    named = first[["fraction", "scale", "seed"]]
    cells = _cells(config, named.to_array().values.T.tolist(), mask="diagonal", way="flow")
    until = {"stop": document_stop(config.words), "limit": config.spike_limit}
    flow = table("spikes by flow", cells, bench, **until, width=lane_width(config))
    by_flow = {f"flow_{n}": flow[n] for n in ("train_loss", "ending", "signs")}
    sgd = {"sgd": first.test_loss, "sgd_signs": first.signs}
    return named.assign(sgd | {"flow": flow.test_loss} | by_flow)


def author_cells(config: Config, bench: Bench) -> xr.Dataset | None:
    """The author's cells redone, as part of the grid where it has their size, if the folder named
    by REMANENCE_DATA has his file with cells at the profile's σ."""
    folder = os.environ.get("REMANENCE_DATA")
    path = pathlib.Path(folder or ".") / "gdln" / "figure1_sample.csv"
    if not folder or not path.is_file():
        return None
    with path.open(newline="") as lines:
        rows = [r for r in csv.DictReader(lines) if float(r["init_scale"]) in config.author_scales]
    if not rows:
        return None
    named = [(row["train_frac"], row["init_scale"], row["seed"]) for row in rows]
    cells = [named_cell(dict(zip(NAMES, row, strict=True))) for row in named]
    words = cells[0].words
    title = BY_SGD if config.words == words else "the author's cells"
    until = {"stop": document_stop(words), "limit": DOCUMENT_STEPS, "width": 1}
    found = table(title, cells, bench, **until)
    ours = 2 * words * found.test_loss.values
    theirs = np.array([float(row["test_loss"]) for row in rows])
    return found.assign(
        author_loss=("cell", theirs),
        relative=("cell", np.abs(ours / theirs - 1.0)),
        same_side=("cell", (ours < 1e-3) == (theirs < 1e-3)),
    )


def named_cell(wanted: Mapping[str, str]) -> Cell:
    """The author's cell that `frac=…,sigma=…,seed=…` names, or a refusal."""
    if not {"frac", "sigma"} <= set(wanted) <= set(NAMES):
        given = ", ".join(wanted) or "nothing"
        raise ValueError(f"a cell is named by frac, sigma and seed, got {given}")
    numbers: dict[str, Any] = {"seed": 0}
    for name, text in wanted.items():
        try:
            numbers[name] = NAMES[name](text)
        except ValueError:
            what = "a whole number" if NAMES[name] is int else "a number"
            raise ValueError(f"{name} must be {what}, got {text!r}") from None
    fraction, scale, seed = (numbers[name] for name in NAMES)
    if not math.isfinite(fraction):
        raise ValueError(f"frac must be a number, got {wanted['frac']!r}")
    if not 0 <= seed < SEEDS:
        raise ValueError(f"seed must lie between 0 and 2^32 - 1, got {seed}")
    return Cell(fraction=fraction, scale=scale, seed=seed, mask="diagonal", way="sgd")


def one_cell(wanted: Mapping[str, str], bench: Bench) -> dict[str, Any]:
    """Train the cell that `frac=…,sigma=…,seed=…` names as its author did, and measure it; losses
    are sums over words, as the document's, null where a run diverged or has no such pairs."""
    cell = named_cell(wanted)
    bench.tell(
        f"training {int(cell.run().T.sum())} of {cell.languages**2} pairs, at most "
        f"{DOCUMENT_STEPS:,} steps: seconds, or half a minute"
    )
    stop = document_stop(cell.words)
    ((_, fit),) = train_cells([cell], stop=stop, limit=DOCUMENT_STEPS, width=1)
    found = cell_numbers(cell, fit)
    names = ("accuracy_trained", "accuracy_untrained", "rank")
    numbers = {name: found[name] for name in names} | {"negative_untrained": found["signs"]}
    numbers |= {name: 2 * cell.words * found[name] for name in ("train_loss", "test_loss")}
    known = {"frac": cell.fraction, "sigma": cell.scale, "seed": cell.seed}
    known |= {"ending": fit.ending, "steps": fit.steps, "connected": bool(found["connected"])}
    return known | {name: x if math.isfinite(x) else None for name, x in numbers.items()}
