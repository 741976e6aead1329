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
from ...report import Bench
from ...train.bar import progress_bar
from .alignment import translation
from .cluster_trainings import trained_on
from .connectivity import connectivity
from .gated_linear import GatedLinear
from .gradient_flow import gradient_flow
from .language_pairs import Mask, published_pairs
from .ledger import opened_ledger
from .momentum_sgd import momentum_sgd
from .pair_training import PairFit, PairRun
from .safe_descent import safe_descent
from .training_processes import side_by_side


Way = Literal["sgd", "descent", "flow"]
WAYS: dict[Way, tuple[Any, dict[str, str]]] = {
    "sgd": (momentum_sgd, {}),
    "descent": (safe_descent, {"precision": "auto"}),
    "flow": (gradient_flow, {}),
}
DOCUMENT_STEPS = 500_000
"""The document gives a run so many steps at most."""
ENDINGS = ("converged", "out of steps", "diverged", "stalled", "out of time")


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

    def run(self) -> PairRun:
        """The start and the pairs; the same for every way and mask."""
        net = GatedLinear.published(
            seed=self.seed,
            scale=self.scale,
            languages=self.languages,
            words=self.words,
            units=self.units,
        )
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
    train, more = WAYS[cells[0].way]
    common = {"mask": cells[0].mask, "stop": stop, "limit": limit, **more}
    if on is not None:
        return trained_on(on, train, runs, width=width, folder=folder, **common)
    workers = min(len(cores()), len(runs))
    if width == 1 and workers > 1:
        return side_by_side(train, runs, workers=workers, **common)
    return train(runs, width=width, **common)


def measured(cell: Cell, fit: PairFit) -> dict[str, float]:
    """What is kept of a finished cell, as numbers."""
    T = cell.run().T
    graph, seen = connectivity(T), None
    if fit.ending != "diverged":
        seen = translation(fit.net, T, mask=cell.mask)
    value = lambda name: float("nan") if seen is None else float(getattr(seen, name))
    longest = graph.path_lengths[np.isfinite(graph.path_lengths)].max()
    return {
        "train_loss": value("loss_trained"),
        "test_loss": value("loss_untrained"),
        "within": value("loss_within"),
        "across": value("loss_across"),
        "accuracy_trained": value("accuracy_trained"),
        "accuracy_untrained": value("accuracy_untrained"),
        "rank": value("rank"),
        "signs": value("signs"),
        "connected": float(graph.connected),
        "components": float(graph.components),
        "algebraic": graph.algebraic,
        "longest_path": float(longest),
        "steps": float(fit.steps),
        "effort": float(fit.effort),
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
    with (
        opened_ledger(title, bench, work, trained) as ledger,
        progress_bar(title, total=len(cells), unit="cells", quiet=bench.quiet) as bar,
    ):
        rows = [ledger.get(cell) for cell in cells]
        left = [i for i, row in enumerate(rows) if row is None]
        bar(len(cells) - len(left))
        if left and time.monotonic() < until:
            todo = [cells[j] for j in left]
            where = {"on": bench.on, "folder": bench.folder}
            fits = trained(todo, stop=stop, limit=limit, width=width, **where)
            for done, (i, fit) in enumerate(fits):
                cell = cells[left[i]]
                rows[left[i]] = row = measured(cell, fit)
                ledger.put(cell, row)
                bar(len(cells) - len(left) + done + 1)
                if time.monotonic() > until:
                    break
    finished = [
        (cell, row) for cell, row in zip(cells, rows, strict=True) if row is not None
    ]
    if not finished:
        raise ValueError(f"no cell of the table {title!r} was finished in time")
    columns = {
        name: ("cell", np.array([float(row[name]) for _, row in finished]))
        for name in finished[0][1]
    }
    for field in ("fraction", "scale", "seed", "words", "units"):
        columns[field] = ("cell", np.array([getattr(c, field) for c, _ in finished]))
    return xr.Dataset(
        columns,
        attrs={
            "mask": cells[0].mask,
            "way": cells[0].way,
            "endings": ", ".join(f"{i} {word}" for i, word in enumerate(ENDINGS)),
            "loss": "half the mean squared error a word; the document's is 2D times it",
        },
    )
