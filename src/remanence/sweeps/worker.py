"""What a sweep computes: a compiled program for each static point, called chunk by chunk, here or on workers.

To a worker the work travels as bytes. Every task comes with the environment that is wanted:
workers come and go, and one with other code, versions or processor must not compute a single chunk.
"""

import contextlib
import dataclasses
import functools
import json
import pathlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._fast_compile import FAST_COMPILE
from .._precision import as_numpy
from ..train.identity import environment, is_installed
from ..train.loop import as_jax
from .grid import Grid, Part


Arrays = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Work:
    """What every chunk of a sweep needs: the grid, the lane, and its data."""

    grid: Grid
    lane: Callable
    data: Any
    x64: bool
    fast_compile: bool = False

    def program(self, number: int) -> Callable[[Part], Any]:
        """What computes the chunks of one static point, compiled here."""
        fixed = self.grid.static_point(number)
        arrays, rest = eqx.partition(self.data, eqx.is_array)
        leaves, tree = jax.tree.flatten(arrays)

        def lanes(points, keys, leaves):
            data = eqx.combine(jax.tree.unflatten(tree, leaves), rest)

            def lane(point, key):
                result = self.lane({**fixed, **point}, key, data)
                return {name: jnp.asarray(value) for name, value in result.items()}

            return jax.vmap(lane)(points, keys)

        options: Any = {"compiler_options": FAST_COMPILE} if self.fast_compile else {}
        with jax.enable_x64(self.x64):
            first = self.grid.points(next(p for p in self.grid.parts if p.program == number))
            compiled = jax.jit(lanes, **options).lower(*first, leaves).compile()

        def chunk(part: Part) -> Arrays:
            with jax.enable_x64(self.x64):
                result = jax.device_get(compiled(*self.grid.points(part), leaves))
            return {name: np.array(array[: part.lanes]) for name, array in result.items()}

        return chunk


Payload = tuple[bytes, bool]  # the work as bytes, and whether it is in double precision


def pack(work: Work) -> Payload:
    """The work in bytes; functions of scripts travel whole, installed ones by name."""
    import cloudpickle

    module = sys.modules.get(getattr(work.lane, "__module__", None) or "")
    known = cloudpickle.list_registry_pickle_by_value()
    with contextlib.ExitStack() as scope:
        if module is not None and not is_installed(work.lane) and module.__name__ not in known:
            cloudpickle.register_pickle_by_value(module)
            scope.callback(cloudpickle.unregister_pickle_by_value, module)
        content = cloudpickle.dumps((type(work), vars(work) | {"data": as_numpy(work.data)}))
    return content, work.x64


def _unpack(payload: Payload) -> Work:
    import cloudpickle

    # A message of our own client, never a file. Opened in the scope, since a float64
    # array would arrive outside it as float32.
    with jax.enable_x64(payload[1]):
        kind, fields = cloudpickle.loads(payload[0])
        return kind(**fields | {"data": as_jax(fields["data"])})


def environment_there(payload: Payload) -> dict[str, Any]:
    """What decides the bits in this process, for the code of this work."""
    with jax.enable_x64(payload[1]):
        return environment(_unpack(payload).lane)


def difference(theirs: dict[str, Any], wanted: dict[str, Any]) -> str:
    """What is wrong with a worker, in words."""
    for name, version in wanted["versions"].items():
        if (there := theirs["versions"].get(name)) != version:
            return f"has {name} {there}, but {version} is wanted"
    names = [name for name in wanted if theirs.get(name) != wanted[name]]
    return f"has another {' and '.join(names)}, so its bits could differ"


class LostError(RuntimeError):
    """Those who compute cannot be reached any more."""


class Unfinished(RuntimeError):
    """A sweep stopped early; `done` of `total` lanes are stored."""

    def __init__(self, reason: str, done: int, total: int, folder: pathlib.Path | None):
        lost = "were done and are lost, as there is no folder"
        kept = f"are stored in {folder}, and the same call continues there"
        super().__init__(f"{reason}: {done} of {total} lanes {kept if folder else lost}")
        self.done, self.total = done, total


_TURN = threading.Lock()
"""One chunk a process at a time, whatever threads a worker was given: two programs were
seen to wait for each other for ever (`pool`)."""


@functools.lru_cache(maxsize=8)
def _program(payload: Payload, number: int, wanted: str) -> Callable[[Part], Any]:
    """The program of a static point, made once a worker if its environment is as wanted."""
    here, there = environment_there(payload), json.loads(wanted)
    if here != there:
        raise ValueError(f"a worker {difference(here, there)}")
    return _unpack(payload).program(number)


def task(payload: Payload, part: Part, wanted: dict[str, Any]) -> Arrays:
    """One chunk, on a worker."""
    with _TURN:
        return _program(payload, part.program, json.dumps(wanted, sort_keys=True))(part)
