"""Trainings of gated linear networks on the workers of a Dask scheduler, a few a task."""

import dataclasses
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...sweeps.cluster import Cluster
from ...sweeps.grid import grid, Part
from ...sweeps.local import HungError, LostError, Work
from ...sweeps.unfinished import Unfinished
from .pair_training import PairFit, PairRun


@dataclasses.dataclass(frozen=True)
class Trainings(Work):
    """Runs that one way down (`lane`) takes, with its own settings."""

    runs: Sequence[PairRun] = ()
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def program(self, number: int) -> Callable[[Part], list[tuple[int, PairFit]]]:
        def some(part: Part) -> list[tuple[int, PairFit]]:
            found = self.lane(self.runs[part.start : part.stop], **self.settings)
            return [(part.start + index, fit) for index, fit in found]

        return some


def trained_on(
    on: Any,
    train: Callable,
    runs: Sequence[PairRun],
    *,
    width: int,
    folder: pathlib.Path | None = None,
    **options: Any,
) -> Iterator[tuple[int, PairFit]]:
    """`train(runs, width=…)` by the workers at `on`: each fit as it arrives, the same bits.

    A run's bits do not depend on who is beside it in a batch, so any may go anywhere.
    `folder` is where the caller keeps them, to be named if the workers are lost.
    """
    plan = grid({"run": range(len(runs))}, static=(), chunk=width, seed=0)
    settings = {"width": width, **options}
    work = Trainings(plan, train, None, x64=False, runs=runs, settings=settings)
    done = 0
    with Cluster(work, on) as engine:
        try:
            arriving: Iterator[Any] = engine.computed(plan.parts, lambda: False)
            for _, fits in arriving:
                done += len(fits)
                yield from fits
        except (HungError, LostError) as fault:
            raise Unfinished(str(fault), done, len(runs), folder) from fault
