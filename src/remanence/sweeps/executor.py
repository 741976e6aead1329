"""Chunks of lanes computed on this machine: one compiled program for each static point.

A chunk is one call of a compiled program; XLA's own pool, with one thread a core,
spreads large products inside it. Where that leaves cores idle, `crew.py` uses them.
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jax.experimental.compilation_cache import compilation_cache
from jax.experimental.serialize_executable import serialize

from .._light import LIGHT
from ..train.identity import environment
from .crew import Crew, Gone, Helper
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

    def program(self, number: int) -> Any:
        """What computes the chunks of one static point, here or on a worker."""
        return Program(self, number)

    def leaves(self) -> list[Any]:
        """The arrays of the data as NumPy's; drawn keys, which have no such form, as they are."""
        arrays = jax.tree.leaves(eqx.filter(self.data, eqx.is_array))
        drawn = lambda a: jnp.issubdtype(a.dtype, jax.dtypes.prng_key)
        return [a if drawn(a) else np.asarray(a) for a in arrays]


AFRESH: Any = {"xla_embed_ir_in_executable": False}
"""The default, said aloud: a program that is compiled with options is not taken as it is."""


@contextlib.contextmanager
def _cache_off() -> Iterator[None]:
    """JAX looks once whether there is a cache on disk; it is made to look again."""
    wanted = jax.config.jax_enable_compilation_cache  # pyright: ignore[reportAttributeAccessIssue]
    try:
        jax.config.update("jax_enable_compilation_cache", False)
        compilation_cache.reset_cache()
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", wanted)
        compilation_cache.reset_cache()


class Program:
    """The program of one static point: traced when made, compiled on first use."""

    def __init__(self, work: Work, number: int):
        fixed = work.grid.static_point(number)

        arrays, rest = eqx.partition(work.data, eqx.is_array)
        leaves, self.tree = jax.tree.flatten(arrays)

        def lanes(points, keys, leaves):
            data = eqx.combine(jax.tree.unflatten(self.tree, leaves), rest)

            def lane(point, key):
                result = work.lane({**fixed, **point}, key, data)
                return {name: jnp.asarray(value) for name, value in result.items()}

            return jax.vmap(lane)(points, jr.wrap_key_data(keys))

        self.work, self.number = work, number
        self.lock, self.compiled = threading.Lock(), None
        self.leaves, self.code = leaves, None
        first = work.grid.cut(number)[0]
        # Traced here, in the caller's thread, whose scopes (precision, promotion) hold.
        with jax.enable_x64(work.x64):
            options: Any = {"compiler_options": LIGHT} if work.light else {}
            self.lowered = jax.jit(lanes, **options).lower(
                *self.plain_arguments(first), leaves
            )

    def plain_arguments(self, part: Part) -> tuple[Arrays, np.ndarray]:
        """Points and keys of a chunk, as plain numbers."""
        with jax.enable_x64(self.work.x64):
            points, keys = self.work.grid.points(part)
            return points, np.asarray(jr.key_data(keys))

    def ready(self) -> Any:
        """The compiled program."""
        with self.lock:  # two threads must not compile the same program
            if self.compiled is None:
                self.compiled = self.lowered.compile()
        return self.compiled

    def machine_code(self) -> Any:
        """The compiled program for another process; `ValueError` where that cannot be.

        What came out of JAX's cache on disk cannot be sent on: it is compiled afresh.
        """
        if self.code is None:
            kept = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
            with _cache_off() if kept else contextlib.nullcontext():
                compiled = self.lowered.compile(AFRESH) if kept else self.ready()
            try:
                self.code = serialize(compiled)
            except (
                Exception
            ) as error:  # callbacks: each version of JAX has its own words
                raise ValueError("this program cannot leave its process") from error
        return self.code

    def __call__(self, part: Part) -> Arrays:
        """The results of a chunk, its padding cut off."""
        with jax.enable_x64(self.work.x64):
            result = self.ready()(*self.plain_arguments(part), self.leaves)
            result = jax.device_get(result)
        return cut(result, part)


def cut(arrays: Mapping[str, np.ndarray], part: Part) -> Arrays:
    """The lanes of a chunk without its padding."""
    return {name: np.array(array[: part.lanes]) for name, array in arrays.items()}


class Here:
    """This machine: this process, and others beside it where they help."""

    def __init__(self, work: Work, limit: int | None = None):
        self.work, self.limit = work, limit

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
        waiting = collections.deque(parts)
        crew = Crew(self.work, self.limit)
        pool = concurrent.futures.ThreadPoolExecutor(crew.cores)
        running: dict[concurrent.futures.Future, tuple[Part, Helper | None]] = {}
        programs: dict[int, Program] = {}

        def begin(helper: Helper | None) -> None:
            part = waiting.popleft()
            if part.program not in programs:
                # The parts come program by program: the one before may still be in use.
                for older in list(programs)[:-1]:
                    del programs[older]
                programs[part.program] = Program(self.work, part.program)
            program = programs[part.program]
            if helper is None:
                running[pool.submit(_alone, program, part)] = part, None
                return
            # Whatever runs on XLA here runs in this thread, while no chunk does.
            with contextlib.suppress(ValueError):  # the helper says so, and is dropped
                program.machine_code()
            arguments = program.plain_arguments(part)
            running[pool.submit(helper, program, *arguments)] = part, helper

        try:
            while waiting or running:
                if len(waiting) < len(parts) and late():
                    waiting.clear()
                at_work = [helper for _, helper in running.values()]
                for hand in crew.helpers or [None]:
                    if waiting and hand not in at_work:
                        begin(hand)
                ended, _ = concurrent.futures.wait(
                    running, return_when=concurrent.futures.FIRST_COMPLETED
                )
                for future in ended:
                    part, helper = running.pop(future)
                    if helper is None:
                        arrays, seconds, busy = future.result()
                        crew.consider(seconds, busy, len(waiting))
                        yield part, arrays
                        continue
                    try:
                        yield part, cut(future.result(), part)
                    except Gone:
                        # What went wrong is said, if it goes wrong here too.
                        crew.drop(helper)
                        waiting.appendleft(part)
        finally:
            crew.end()
            pool.shutdown(wait=False, cancel_futures=True)


def _alone(program: Program, part: Part) -> tuple[Arrays, float, float]:
    """A chunk, computed by this process; its seconds, and the cores it kept busy."""
    program.ready()
    wall, processor = time.perf_counter(), time.process_time()
    arrays = program(part)
    seconds = time.perf_counter() - wall
    return arrays, seconds, (time.process_time() - processor) / max(seconds, 1e-9)
