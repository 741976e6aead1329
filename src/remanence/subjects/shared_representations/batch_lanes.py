"""Many trainings in a batch of fixed width: a lane that is done gives its place away.

Runs of one sweep differ in length a hundredfold, so a batch that waits for its
slowest lane wastes most of its work. Here the next run takes the place of the one
that finished. The width is fixed, so that a run's bits do not depend on who was
beside it, nor on how many cores there are.
"""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool


Lane = Any
"""A pytree of arrays: everything that one training carries along."""
Places = Bool[np.ndarray, " width"]
Advance = Callable[[Lane, Places], tuple[Lane, Places]]
ALONE = {"xla_cpu_multi_thread_eigen": False}
"""Products of one small network are not shared between threads: to ask costs a tenth."""


def over_lanes(advance: Callable[[Lane], Lane]) -> Callable[[Lane], Lane]:
    """Compiled `vmap`, except for a single lane, whose products stay plain ones."""

    def moved(batch: Lane) -> Lane:
        if jax.tree.leaves(batch)[0].shape[0] > 1:
            return jax.vmap(advance)(batch)
        alone = advance(jax.tree.map(lambda a: a[0], batch))
        return jax.tree.map(lambda a: a[None], alone)

    return jax.jit(moved, compiler_options=ALONE)


def finished_lanes(
    count: int, *, start: Callable[[int], Lane], advance: Advance, width: int = 4
) -> Iterator[tuple[int, Lane]]:
    """Each run's last state, as soon as it is there: `(index, lane)`.

    `advance` is given a batch and which of its places are taken; it moves these by one
    chunk and says which are done. It is the same compiled program for all.
    """
    waiting = iter(range(count))
    places: list[int | None] = [None] * width
    batch: Lane = None
    while True:
        for place, index in enumerate(places):
            following = next(waiting, None) if index is None else None
            if following is None:
                continue
            places[place] = following
            lane = jax.tree.map(np.asarray, start(following))
            if batch is None:
                # Empty places hold copies: shapes stay as they were compiled.
                batch = jax.tree.map(lambda a: np.stack([a] * width), lane)
            for rows, row in zip(
                jax.tree.leaves(batch), jax.tree.leaves(lane), strict=True
            ):
                rows[place] = row
        taken = np.array([index is not None for index in places])
        if not taken.any():
            return
        moved, finished = advance(batch, taken)
        batch = jax.tree.map(lambda a: np.array(a), moved)
        for place, over in enumerate(np.asarray(finished)):
            index = places[place]
            if index is not None and over:
                places[place] = None
                yield index, jax.tree.map(lambda a, at=place: a[at].copy(), batch)
