"""Cells of the study's grids: trained once, kept at once, gathered as columns."""

import dataclasses
import math
import pathlib
import time
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr

from ..._cores import cores
from ..._stop import check_stop
from ...report import Bench
from ...train.bar import progress_bar
from ...train.store import opened_store
from .connectivity import connectivity
from .gated_linear import GatedLinear
from .gradient_flow import gradient_flow
from .language_pairs import Mask, published_pairs
from .momentum_sgd import momentum_sgd
from .pair_training import PairFit, PairRun
from .safe_descent import safe_descent
from .translation import Translation, translation
from .worker_trainings import trained_by_workers


Way = Literal["sgd", "descent", "flow"]
WAYS: dict[Way, Any] = {
    "sgd": momentum_sgd,
    "descent": safe_descent,
    "flow": gradient_flow,
}
DOCUMENT_STEPS = 500_000
"""The document gives a run so many steps at most."""
ENDINGS = ("converged", "out of steps", "diverged", "stalled", "out of time")
GENERALISES = 1e-3
"""Test loss (half mean squared error a word) below which a run generalises."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cell:
    """One training of the grid, with the document's draw of its seed."""

    fraction: float
    scale: float
    seed: int
    mask: Mask
    way: Way
    languages: int = 10
    words: int = 32
    units: int = 32

    @property
    def name(self) -> str:
        """A name to store it under."""
        return "_".join(str(value) for value in dataclasses.asdict(self).values())

    def run(self) -> PairRun:
        """The start and the pairs; the same for every way and mask."""
        sizes = {"languages": self.languages, "words": self.words, "units": self.units}
        net = GatedLinear.published(seed=self.seed, scale=self.scale, **sizes)
        T = published_pairs(self.fraction, seed=self.seed, languages=self.languages)
        return PairRun(net, T)


def document_stop(words: int) -> float:
    r"""The document stops at $10^{-6}$ of its own loss, which is $2D\Lambda$."""
    return 1e-6 / (2 * words)


def trained(
    cells: Sequence[Cell],
    *,
    stop: float,
    limit: int,
    width: int = 4,
    on: str | None = None,
    folder: pathlib.Path | None = None,
) -> Iterator[tuple[int, PairFit]]:
    """The cells by their own way; all of one mask and one way.

    Lanes of width 1 are large ones: each core takes one, in a process of its own. `on`
    is the address of a Dask scheduler, whose workers then take all of them.
    """
    runs = [cell.run() for cell in cells]
    train, workers = WAYS[cells[0].way], min(len(cores()), len(runs))
    options = {"mask": cells[0].mask, "stop": stop, "limit": limit, "width": width}
    options["precision"] = "auto"
    if on is None and (width > 1 or workers == 1):
        return train(runs, **options)
    return trained_by_workers(
        train, runs, workers=workers, on=on, folder=folder, **options
    )


def measured(cell: Cell, fit: PairFit) -> dict[str, float]:
    """What is kept of a finished cell, as numbers."""
    T = cell.run().T
    graph = connectivity(T)
    names = {
        "train_loss": "loss_trained",
        "test_loss": "loss_untrained",
        "within": "loss_within",
        "across": "loss_across",
        "accuracy_trained": "accuracy_trained",
        "accuracy_untrained": "accuracy_untrained",
        "rank": "rank",
        "signs": "signs",
    }
    seen: Translation | None = None
    if fit.ending != "diverged":
        seen = translation(fit.net, T, mask=cell.mask)
    return {name: float(getattr(seen, of, math.nan)) for name, of in names.items()} | {
        "connected": float(graph.connected),
        "components": float(graph.components),
        "algebraic": graph.algebraic,
        "steps": float(fit.steps),
        "drift": fit.drift,
        "ending": float(ENDINGS.index(fit.ending)),
    }


def table(
    title: str,
    cells: Sequence[Cell],
    bench: Bench,
    *,
    stop: float,
    limit: int,
    width: int = 4,
    until: float = math.inf,
) -> xr.Dataset:
    """The finished cells as columns over `cell`; what is on disk is not redone.

    At the time `until` (of the monotonic clock) those that are missing are left out.
    """
    work = {"stop": stop, "limit": limit, "width": width}
    bar = progress_bar(title, total=len(cells), unit="cells", quiet=bench.quiet)
    folder = bench.folder / "cells" / title
    rows: dict[Cell, dict[str, float]] = {}
    with opened_store(folder, {"table": title, **work}, trained) as store, bar as show:
        for cell in cells:
            kept = store.get(cell.name)
            if kept is not None:
                rows[cell] = {name: float(value) for name, value in kept.items()}
        show(len(rows))
        left = [cell for cell in dict.fromkeys(cells) if cell not in rows]
        if left and time.monotonic() < until:
            fits = trained(left, **work, on=bench.on, folder=bench.folder)
            for i, fit in fits:
                row = measured(left[i], fit)
                arrays = {name: np.asarray(value) for name, value in row.items()}
                store.put(left[i].name, arrays)
                rows[left[i]] = row
                show(len(rows))
                check_stop()
                if time.monotonic() > until:
                    break
    finished = [cell for cell in cells if cell in rows]
    if not finished:
        raise ValueError(f"no cell of the table {title!r} was finished in time")
    columns = {
        name: np.array([rows[cell][name] for cell in finished])
        for name in rows[finished[0]]
    }
    for field in ("fraction", "scale", "seed", "words", "units"):
        columns[field] = np.array([getattr(cell, field) for cell in finished])
    return xr.Dataset(
        {name: ("cell", values) for name, values in columns.items()},
        attrs={
            "mask": cells[0].mask,
            "way": cells[0].way,
            "limit": limit,
            "endings": ", ".join(f"{i} {word}" for i, word in enumerate(ENDINGS)),
            "loss": "half the mean squared error a word; the document's is 2D times it",
        },
    )


def generalises(found: xr.Dataset) -> xr.DataArray:
    """Which runs reached the training loss and have a low test loss."""
    return (found.test_loss < GENERALISES) & (found.ending == 0)


def by_scale(found: xr.Dataset) -> dict[float, xr.Dataset]:
    """The part at each σ, the largest first."""
    return {
        float(scale): found.isel(cell=np.flatnonzero(found.scale == scale))
        for scale in np.unique(found.scale)[::-1]
    }
