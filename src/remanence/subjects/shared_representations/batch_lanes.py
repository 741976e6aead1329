"""Many trainings in a batch of fixed width: the next run takes a finished one's place.

Runs of one sweep differ in length a hundredfold, so a batch that waits for its
slowest lane wastes most of its work. The width is fixed, so that a run's bits do not
depend on who was beside it, nor on how many cores there are.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool

from ..._precision import double


Lane = Any
"""A pytree of arrays: everything that one training carries along."""
Advance = Callable[[Lane], tuple[Lane, Bool[np.ndarray, " width"]]]
ONE_THREAD = {"xla_cpu_multi_thread_eigen": False}
"""Products of one small network are not shared between threads: to ask costs a tenth."""


def over_lanes(advance: Callable[[Lane], Lane]) -> Callable[[Lane], Lane]:
    """Compiled `vmap`, except for a single lane, whose products stay plain ones."""

    def advanced(batch: Lane) -> Lane:
        if jax.tree.leaves(batch)[0].shape[0] > 1:
            return jax.vmap(advance)(batch)
        alone = advance(jax.tree.map(lambda a: a[0], batch))
        return jax.tree.map(lambda a: a[None], alone)

    return jax.jit(advanced, compiler_options=ONE_THREAD)


def finished_lanes(
    precisions: Sequence[str], *, start: Callable[[int], Lane], advance: Advance, width: int = 4
) -> Iterator[tuple[int, Lane]]:
    """The last state of each run as soon as it is there: `(index, lane)`.

    Run `i` goes in `precisions[i]`, beside others of that precision. `advance` moves a
    batch by one chunk and says which lanes are done; it is one compiled program.
    """
    for precision in sorted(set(precisions)):
        waiting = iter(i for i, p in enumerate(precisions) if p == precision)
        scope = double if precision == "float64" else nullcontext
        places: list[int | None] = [None] * width
        batch: Lane = None
        while True:
            for place, index in enumerate(places):
                following = next(waiting, None) if index is None else None
                if following is None:
                    continue
                places[place] = following
                with scope():
                    lane = jax.tree.map(np.asarray, start(following))
                if batch is None:
                    # Empty places hold copies: shapes stay as they were compiled.
                    batch = jax.tree.map(lambda a: np.stack([a] * width), lane)
                for rows, row in zip(*map(jax.tree.leaves, (batch, lane)), strict=True):
                    rows[place] = row
            if places == [None] * width:
                break
            with scope():
                batch, finished = jax.tree.map(np.array, advance(batch))
            for place, index in enumerate(places):
                if index is not None and finished[place]:
                    places[place] = None
                    yield index, jax.tree.map(lambda a, at=place: a[at].copy(), batch)
