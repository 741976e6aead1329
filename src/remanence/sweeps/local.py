"""Chunks of lanes computed on this machine: one compiled program for each static point.

A chunk is one call of a compiled program; XLA's own threads spread large products
inside it. Chunks of small lanes keep one core busy: once a chunk has shown that it
leaves cores idle and that there is enough to do, worker processes take the others.
"""

import collections
import concurrent.futures
import dataclasses
import math
import pathlib
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._cores import cores
from .._fast_compile import FAST_COMPILE
from ..train.identity import environment
from .grid import Grid, Part
from .pool import BrokenProcessPool, WorkerPool


Arrays = dict[str, np.ndarray]
WORTH = 10.0
"""Seconds that workers must save: a few are lost until they have started."""


class HungError(RuntimeError):
    """Chunks did not end within their limit."""


class LostError(RuntimeError):
    """Those who compute cannot be reached any more."""


@dataclasses.dataclass(frozen=True)
class Work:
    """What every chunk of a sweep needs: the grid, the lane, and its data."""

    grid: Grid
    lane: Callable
    data: Any
    x64: bool
    fast_compile: bool = False

    def program(self, number: int) -> Any:
        """What computes the chunks of one static point, here or on a worker."""
        return Program(self, number)


class Program:
    """The compiled program of one static point."""

    def __init__(self, work: Work, number: int):
        fixed = work.grid.static_point(number)
        arrays, rest = eqx.partition(work.data, eqx.is_array)
        self.leaves, tree = jax.tree.flatten(arrays)

        def lanes(points, keys, leaves):
            data = eqx.combine(jax.tree.unflatten(tree, leaves), rest)

            def lane(point, key):
                result = work.lane({**fixed, **point}, key, data)
                return {name: jnp.asarray(value) for name, value in result.items()}

            return jax.vmap(lane)(points, keys)

        self.work = work
        options: Any = {"compiler_options": FAST_COMPILE} if work.fast_compile else {}
        with jax.enable_x64(work.x64):
            first = work.grid.points(work.grid.cut(number)[0])
            traced = jax.jit(lanes, **options).lower(*first, self.leaves)
            self.compiled = traced.compile()

    def __call__(self, part: Part) -> Arrays:
        """The results of a chunk, its padding cut off."""
        with jax.enable_x64(self.work.x64):
            points = self.work.grid.points(part)
            result = jax.device_get(self.compiled(*points, self.leaves))
        return {name: np.array(array[: part.lanes]) for name, array in result.items()}


class Local:
    """This machine: this process, and worker processes where they help.

    With `workers` given that many are started at once, each on a core of its own.
    """

    def __init__(self, work: Work, limit: int | None = None, *, workers: int | None = None):
        self.work, self.limit, self.workers = work, limit, workers

    def __enter__(self) -> "Local":
        return self

    def __exit__(self, *reason) -> None:
        pass

    def environment(self) -> dict[str, Any]:
        """What decides the bits here."""
        return environment(self.work.lane)

    def computed(
        self, parts: Sequence[Part], late: Callable[[], bool]
    ) -> Iterator[tuple[Part, Arrays]]:
        """Each part with its arrays as it ends; once `late`, no further one is begun."""
        waiting = collections.deque(parts)
        if self.workers:
            yield from self._by_workers(waiting, late, self.workers, cores())
        here: tuple[int, Callable[[Part], Arrays]] = (-1, lambda part: {})
        while waiting and not (len(waiting) < len(parts) and late()):
            part = waiting.popleft()
            if part.program != here[0]:  # the parts come program by program
                here = part.program, self.work.program(part.program)
            wall, processor = time.perf_counter(), time.process_time()
            arrays = here[1](part)
            seconds = time.perf_counter() - wall
            busy = (time.process_time() - processor) / max(seconds, 1e-9)
            yield part, arrays
            workers = useful_workers(seconds, busy, len(waiting), limit=self.limit)
            if workers:
                # Not on a core each: with other threads XLA could have other bits.
                yield from self._by_workers(waiting, late, workers, ())

    def _by_workers(
        self,
        waiting: collections.deque[Part],
        late: Callable[[], bool],
        workers: int,
        pin_to: tuple[int, ...],
    ) -> Iterator[tuple[Part, Arrays]]:
        """Parts by worker processes; what a lost worker leaves stays in `waiting`."""
        from .worker import packed, task

        try:
            payload, wanted = packed(self.work), self.environment()
        except (TypeError, NotImplementedError, AttributeError):
            self.limit = 1  # it cannot leave this process (drawn keys among the data)
            return
        running: dict[concurrent.futures.Future, Part] = {}
        with WorkerPool(workers, pin_to=pin_to) as pool:
            try:
                while waiting or running:
                    if late():
                        waiting.clear()
                    while waiting and len(running) < workers:
                        sent = pool.submit(task, payload, waiting[0], wanted, None)
                        running[sent] = waiting.popleft()
                    ended, _ = concurrent.futures.wait(
                        running, timeout=0.5, return_when=concurrent.futures.FIRST_COMPLETED
                    )
                    for future in ended:
                        arrays = future.result()
                        yield running.pop(future), arrays
            except (BrokenProcessPool, OSError):  # OSError: it died while it began
                # Computed here: what went wrong is said, if it goes wrong here too.
                waiting.extendleft(reversed(running.values()))
                self.limit = 1


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
    info, here = pathlib.Path("/proc/meminfo"), pathlib.Path("/proc/self/statm")
    if not (info.is_file() and here.is_file()):
        return sys.maxsize
    free = next(
        line.split()[1] for line in info.read_text().splitlines() if line.startswith("MemAvailable")
    )
    # Not the largest that it was: that is handed down by whoever started it.
    resident = int(here.read_text().split()[1]) * resource.getpagesize()
    return math.floor(1024 * int(free) / (2 * resident))
