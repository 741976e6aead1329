"""Trainings of gated linear networks by worker processes: of this machine, or Dask's.

One training at D = H = 32 fits into the cache of one core, and its matrices are too
small to be shared between cores: so each core takes a run of its own.
"""

import dataclasses
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...sweeps.cluster import Cluster
from ...sweeps.grid import grid, Part
from ...sweeps.local import Local
from ...sweeps.program import Work
from ...sweeps.unfinished import LostError, Unfinished
from .pair_training import PairFit, PairRun


@dataclasses.dataclass(frozen=True)
class Trainings(Work):
    """Runs that one of the three ways down (`lane`) takes, with its settings."""

    runs: Sequence[PairRun] = ()
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def program(self, number: int) -> Callable[[Part], list[tuple[int, PairFit]]]:
        def some(part: Part) -> list[tuple[int, PairFit]]:
            found = self.lane(self.runs[part.start : part.stop], **self.settings)
            return [(part.start + index, fit) for index, fit in found]

        return some


def trained_by_workers(
    train: Callable,
    runs: Sequence[PairRun],
    *,
    width: int = 1,
    workers: int = 1,
    on: Any = None,
    folder: pathlib.Path | None = None,
    **options: Any,
) -> Iterator[tuple[int, PairFit]]:
    """`train(runs, width=…)`, `width` runs a task: `(index, fit)` as each arrives.

    By so many processes here, or by the workers of the Dask scheduler at `on`. A run's
    bits do not depend on who is beside it in a batch, so any may go anywhere. `folder`
    is where the caller keeps them, to be named if the workers are lost.
    """
    plan = grid({"run": range(len(runs))}, static=(), chunk=width, seed=0)
    settings = {"width": width, **options}
    work = Trainings(plan, train, None, x64=False, runs=runs, settings=settings)
    engine = Local(work, workers=workers) if on is None else Cluster(work, on)
    done = 0
    with engine:
        try:
            arriving: Iterator[Any] = engine.computed(plan.parts, lambda: False)
            for _, fits in arriving:
                done += len(fits)
                yield from fits
        except LostError as fault:
            raise Unfinished(str(fault), done, len(runs), folder) from fault
