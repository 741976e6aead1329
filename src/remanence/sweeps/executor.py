"""Chunks of lanes computed in this process: one compiled program for each static point."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .grid import Grid, Part


@dataclasses.dataclass(frozen=True)
class Work:
    """What every chunk of a sweep needs: the grid, the lane, and its data."""

    grid: Grid
    lane: Callable
    data: Any
    x64: bool


def program(work: Work, number: int) -> Callable[[Part], dict[str, np.ndarray]]:
    """The compiled program of one static point, as a function of a chunk."""
    fixed = work.grid.static_point(number)

    @eqx.filter_jit
    def lanes(points, keys, data):
        def lane(point, key):
            result = work.lane({**fixed, **point}, key, data)
            return {name: jnp.asarray(value) for name, value in result.items()}

        return jax.vmap(lane)(points, keys)

    def computed(part: Part) -> dict[str, np.ndarray]:
        with jax.enable_x64(work.x64):
            points, keys = work.grid.points(part)
            result = jax.device_get(lanes(points, keys, work.data))
        # Padding is cut off here: nothing beyond this line ever sees it.
        return {name: np.array(array[: part.lanes]) for name, array in result.items()}

    return computed


def computed_here(
    work: Work, parts: Iterable[Part]
) -> Iterator[tuple[Part, dict[str, np.ndarray]]]:
    """Each part with its arrays, one after another; XLA uses the cores."""
    number, compiled = None, None
    for part in parts:
        if compiled is None or part.program != number:
            number, compiled = part.program, program(work, part.program)
        yield part, compiled(part)
