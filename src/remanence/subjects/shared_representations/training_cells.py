"""Cells of the study's grids: trained once, kept at once, gathered as columns."""

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr

from ..._cores import cores
from ..._stop import check_stop
from ...report import Bench
from ...sweeps.cluster import connected
from ...sweeps.grid import grid, Part
from ...sweeps.local import Local
from ...sweeps.worker import LostError, Unfinished, Work
from ...train.progress import progress_bar
from ...train.store import opened_store
from .gated_linear import bound_ratios, GatedLinear, MEASURED, translation
from .language_pairs import connectivity, Mask, published_pairs
from .pair_training import PairFit, PairRun
from .sgd_and_flow import gradient_flow, momentum_sgd


Way = Literal["sgd", "flow"]
WAYS: dict[Way, Any] = {"sgd": momentum_sgd, "flow": gradient_flow}
DOCUMENT_STEPS = 500_000  # the document gives a run so many at most
ENDINGS = ("converged", "out of steps", "diverged")
GENERALISES = 1e-3  # test loss (half mean squared error a word) below which a run generalises


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
        """The start and the pairs; the same for both ways and masks."""
        sizes = {"languages": self.languages, "words": self.words, "units": self.units}
        net = GatedLinear.published(seed=self.seed, scale=self.scale, **sizes)
        T = published_pairs(self.fraction, seed=self.seed, languages=self.languages)
        return PairRun(net, T)


def document_stop(words: int) -> float:
    r"""The document stops at $10^{-6}$ of its own loss, which is $2D\Lambda$."""
    return 1e-6 / (2 * words)


@dataclasses.dataclass(frozen=True)
class Trainings(Work):
    """Runs for processes here or Dask's: `lane` is the way down, with `settings` of its own."""

    runs: Sequence[PairRun] = ()
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def program(self, number: int) -> Callable[[Part], list[tuple[int, PairFit]]]:
        trained = lambda part: self.lane(self.runs[part.start : part.stop], **self.settings)
        return lambda part: [(part.start + index, fit) for index, fit in trained(part)]


def train_cells(
    cells: Sequence[Cell], *, stop: float, limit: int, width: int = 4, on: str | None = None
) -> Iterator[tuple[int, PairFit]]:
    """The cells by their own way (all of one mask and one way): `(index, fit)` as each ends; by
    Dask's workers `on` a scheduler. Lanes of width 1 fill the cache of a core: each core takes
    one, in a process of its own."""
    runs = [cell.run() for cell in cells]
    train, workers = WAYS[cells[0].way], min(len(cores()), len(runs))
    settings = {"mask": cells[0].mask, "stop": stop, "limit": limit, "width": width}
    if on is None and (width > 1 or workers == 1):
        yield from train(runs, **settings)
        return
    plan = grid({"run": range(len(runs))}, static=(), chunk=width, seed=0)
    work = Trainings(plan, train, None, x64=False, runs=runs, settings=settings)
    local = contextlib.nullcontext(Local(work, workers=workers))
    with local if on is None else connected(work, on) as engine:
        for _, fits in engine.compute(plan.parts, lambda: False):
            yield from fits  # pyright: ignore[reportReturnType]


def cell_numbers(cell: Cell, fit: PairFit) -> dict[str, float]:
    """What is kept of a finished cell; untaught blocks are held against the bound along their
    path, which is proved for H = D."""
    T = cell.run().T
    graph, seen, ratio = (
        connectivity(T),
        dict.fromkeys(MEASURED, math.nan),
        np.full(T.shape, np.nan),
    )
    if fit.ending != "diverged":
        seen, ratio = translation(fit.net, T, mask=cell.mask), bound_ratios(fit.net, T)
    return seen | {
        "connected": float(graph.connected),
        "algebraic": graph.algebraic,
        "steps": float(fit.steps),
        "ending": float(ENDINGS.index(fit.ending)),
        "untaught_blocks": float((T == 0).sum()),
        # A ratio that is not a number keeps no bound.
        "beyond_bound": float((~(ratio[T == 0] <= 1)).sum()),
        "bound_ratio": float(ratio[T == 0].max(initial=0.0)),
    }


def table(
    title: str, cells: Sequence[Cell], bench: Bench, *, stop: float, limit: int, width: int = 4
) -> xr.Dataset:
    """The trained cells as columns over `cell`, each stored as it ends and not redone;
    `Unfinished` if they take longer than the time limit."""
    work = {"stop": stop, "limit": limit, "width": width}
    bar = progress_bar(title, total=len(cells), unit="cells", quiet=bench.quiet)
    folder = bench.folder / "cells" / title
    end = math.inf if bench.time_limit is None else time.monotonic() + bench.time_limit
    with opened_store(folder, {"table": title, **work}, train_cells) as store, bar as show:
        left = [cell for cell in dict.fromkeys(cells) if store.get(cell.name) is None]
        done, reason = len(cells) - len(left), "stopped at the time limit"
        show(done)
        try:
            for i, fit in train_cells(left, **work, on=bench.on) if left else ():
                row = {n: np.asarray(v) for n, v in cell_numbers(left[i], fit).items()}
                store.put(left[i].name, row)
                show(done := done + 1)
                if check_stop() or time.monotonic() > end:
                    break
        except LostError as fault:
            reason = str(fault)
        if done < len(cells):
            raise Unfinished(reason, done, len(cells), folder)
        rows: Any = [store.get(cell.name) for cell in cells]
    columns = {name: [float(row[name]) for row in rows] for name in rows[0]}
    for name in ("fraction", "scale", "seed", "words", "units"):
        columns[name] = [getattr(cell, name) for cell in cells]
    attrs = {"mask": cells[0].mask, "way": cells[0].way}
    attrs["endings"] = ", ".join(f"{i} {word}" for i, word in enumerate(ENDINGS))
    attrs["loss"] = "half the mean squared error a word; the document's is 2D times it"
    return xr.Dataset({name: ("cell", np.array(v)) for name, v in columns.items()}, attrs=attrs)


def generalises(found: xr.Dataset) -> xr.DataArray:
    """Which runs reached the training loss and have a low test loss."""
    return (found.test_loss < GENERALISES) & (found.ending == 0)


def by_scale(found: xr.Dataset) -> dict[float, xr.Dataset]:
    """The part at each σ, the largest first."""
    at = lambda scale: found.isel(cell=np.flatnonzero(found.scale == scale))
    return {float(scale): at(scale) for scale in np.unique(found.scale)[::-1]}
