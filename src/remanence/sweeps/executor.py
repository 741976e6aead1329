"""Chunks of lanes computed in this process: one compiled program for each static point.

A chunk is one call of a compiled program; XLA's own pool, with one thread a core,
spreads large products inside it.
"""

import concurrent.futures
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._light import LIGHT
from ..train.identity import environment
from .grid import Grid, Part


Arrays = dict[str, np.ndarray]


class Hung(RuntimeError):
    """Chunks did not end within their limit."""


class Lost(RuntimeError):
    """Those who compute cannot be reached any more."""


@dataclasses.dataclass(frozen=True)
class Work:
    """What every chunk of a sweep needs: the grid, the lane, and its data."""

    grid: Grid
    lane: Callable
    data: Any
    x64: bool
    light: bool = False


class Program:
    """The program of one static point: traced when made, compiled on first use."""

    def __init__(self, work: Work, number: int):
        fixed = work.grid.static_point(number)

        def lanes(points, keys, data):
            def lane(point, key):
                result = work.lane({**fixed, **point}, key, data)
                return {name: jnp.asarray(value) for name, value in result.items()}

            return jax.vmap(lane)(points, keys)

        self.work, self.number = work, number
        self.lock, self.compiled = threading.Lock(), None
        first = work.grid.cut(number)[0]
        # Traced here, in the caller's thread, whose scopes (precision, promotion) hold.
        with jax.enable_x64(work.x64):
            options: Any = {"compiler_options": LIGHT} if work.light else {}
            jitted: Any = eqx.filter_jit(lanes, **options)
            self.lowered = jitted.lower(*self.arguments(first), work.data)

    def arguments(self, part: Part) -> Any:
        """Points and keys of a chunk, on the device."""
        points, keys = self.work.grid.points(part)
        return jax.tree.map(jnp.asarray, points), keys

    def ready(self) -> Callable:
        """The compiled program."""
        with self.lock:  # two threads must not compile the same program
            if self.compiled is None:
                self.compiled = self.lowered.compile()
        return self.compiled

    def __call__(self, part: Part) -> Arrays:
        """The results of a chunk, its padding cut off."""
        with jax.enable_x64(self.work.x64):
            result = self.ready()(*self.arguments(part), self.work.data)
            result = jax.device_get(result)
        return {name: np.array(array[: part.lanes]) for name, array in result.items()}


class Here:
    """This process and its cores."""

    def __init__(self, work: Work):
        self.work = work

    def __enter__(self) -> "Here":
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
        waiting, running = list(parts)[::-1], {}
        program: Program | None = None
        pool = concurrent.futures.ThreadPoolExecutor(at_once())
        try:
            while waiting or running:
                while waiting and len(running) < at_once():
                    if len(waiting) < len(parts) and late():
                        waiting.clear()
                        break
                    part = waiting.pop()
                    if program is None or program.number != part.program:
                        program = Program(self.work, part.program)
                    running[pool.submit(program, part)] = part
                ended, _ = concurrent.futures.wait(
                    running, return_when=concurrent.futures.FIRST_COMPLETED
                )
                for future in ended:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def at_once() -> int:
    """How many chunks run at the same time in this process: one.

    XLA's pool spreads one program over the cores. Two programs at a time, each called
    from its own thread, were seen to wait for each other for ever on two cores
    (jaxlib 0.10.2: both calls pending, every worker of the pool asleep), so that more
    than one is not offered; more processes (`on=`) are the way to use more cores.
    """
    return 1
