"""Chunks of lanes computed on this machine.

A chunk is one call of a compiled program; XLA's own threads spread large products
inside it. Chunks of small lanes keep one core busy: once a chunk has shown that it
leaves cores idle and that there is enough to do, worker processes take the others.
"""

import functools
import pathlib
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from .._cores import available_bytes, cores
from ..train.identity import environment
from .grid import Part
from .pool import as_completed, BrokenProcessPool, WorkerPool
from .worker import Arrays, pack, task, Work


WORTH = 5.0  # seconds that workers must save: about three are lost until they have started


class Local:
    """This machine: this process, and worker processes where they help.

    With `workers` given that many are started at once, each on a core of its own.
    """

    def __init__(self, work: Work, limit: int | None = None, *, workers: int | None = None):
        self.work, self.limit, self.workers = work, limit, workers

    @property
    def environment(self) -> dict[str, Any]:
        """What decides the bits here."""
        return environment(self.work.lane)

    def compute(
        self, parts: Sequence[Part], late: Callable[[], bool]
    ) -> Iterator[tuple[Part, Arrays]]:
        """Each part with its arrays as it ends; once `late`, no further one is begun."""
        waiting, program = list(parts), functools.lru_cache(maxsize=1)(self.work.program)
        if self.workers:
            yield from self._by_workers(waiting, late, self.workers, cores())
        while waiting and not (len(waiting) < len(parts) and late()):
            part = waiting.pop(0)
            compute = program(part.program)  # the parts come program by program
            wall, processor = time.perf_counter(), time.process_time()
            arrays = compute(part)
            seconds = time.perf_counter() - wall
            busy = (time.process_time() - processor) / max(seconds, 1e-9)
            yield part, arrays
            if workers := useful_workers(seconds, busy, len(waiting), limit=self.limit):
                # Not on a core each: with other threads XLA could have other bits.
                yield from self._by_workers(waiting, late, workers, ())

    def _by_workers(
        self, waiting: list[Part], late: Callable[[], bool], workers: int, pin_to: tuple[int, ...]
    ) -> Iterator[tuple[Part, Arrays]]:
        """Parts by worker processes; what a lost worker leaves stays in `waiting`."""
        try:
            payload, wanted = pack(self.work), self.environment
        except (TypeError, NotImplementedError, AttributeError):
            self.limit = 1  # it cannot leave this process (drawn keys among the data)
            return
        calls = ((part, (task, payload, part, wanted)) for part in [*waiting] if not late())
        with WorkerPool(workers, pin_to=pin_to) as pool:
            try:
                # `late` raises a stop that was asked for.
                for part, future in as_completed(calls, pool.submit, workers, late):
                    arrays = future.result()
                    waiting.remove(part)
                    yield part, arrays
            except (BrokenProcessPool, OSError):  # OSError: it died while it began
                self.limit = 1  # the rest here: what goes wrong is said, if it does so again


def useful_workers(seconds: float, busy: float, waiting: int, *, limit: int | None) -> int:
    """How many workers `waiting` chunks of so many seconds are worth, or 0.

    `busy` is how many cores a chunk keeps busy by itself.
    """
    if jax.default_backend() != "cpu":
        return 0
    available = len(cores()) if limit is None else min(len(cores()), limit)
    workers = min(available // max(1, round(busy)), waiting, _affordable())
    if workers < 2 or waiting * seconds * (1 - 1 / workers) < WORTH:
        return 0
    return workers


def _affordable() -> int:
    """How many processes as large as this one fit into half of the memory."""
    free, here = available_bytes(), pathlib.Path("/proc/self/statm")
    if free is None or not here.is_file():
        return sys.maxsize
    # Not the largest that it was: that is handed down by whoever started it.
    resident = int(here.read_text().split()[1]) * resource.getpagesize()
    return free // (2 * resident)
