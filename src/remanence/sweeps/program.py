"""What a sweep computes: one compiled program for each static point, called chunk by chunk."""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .._fast_compile import FAST_COMPILE
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
            first = work.grid.points(next(p for p in work.grid.parts if p.program == number))
            self.compiled = jax.jit(lanes, **options).lower(*first, self.leaves).compile()

    def __call__(self, part: Part) -> Arrays:
        """The results of a chunk, its padding cut off."""
        with jax.enable_x64(self.work.x64):
            points = self.work.grid.points(part)
            result = jax.device_get(self.compiled(*points, self.leaves))
        return {name: np.array(array[: part.lanes]) for name, array in result.items()}
