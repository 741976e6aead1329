"""Many trainings in a batch of fixed width: a lane that is done gives its place away.

Runs of one sweep differ in length a hundredfold, so a batch that waits for its
slowest lane wastes most of its work. Here the next run takes the place of the one
that finished. The width is fixed, so that a run's bits do not depend on who was
beside it, nor on how many cores there are.
"""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool


Lane = Any
"""A pytree of arrays: everything that one training carries along."""
Advance = Callable[[Lane], tuple[Lane, Bool[np.ndarray, " width"]]]


def _put(batch: Lane, place: int, lane: Lane) -> None:
    for rows, row in zip(jax.tree.leaves(batch), jax.tree.leaves(lane), strict=True):
        rows[place] = row


def _worker(
    waiting: "queue.SimpleQueue[int]",
    done: "queue.SimpleQueue[Any]",
    stop: threading.Event,
    start: Callable[[int], Lane],
    advance: Advance,
    width: int,
) -> None:
    places: list[int | None] = [None] * width
    batch: Lane = None
    while not stop.is_set():
        for place, index in enumerate(places):
            if index is not None:
                continue
            try:
                places[place] = following = waiting.get_nowait()
            except queue.Empty:
                break
            lane = jax.tree.map(np.asarray, start(following))
            if batch is None:
                # Empty places hold copies: they cost nothing that is not paid anyway.
                batch = jax.tree.map(lambda a: np.stack([a] * width), lane)
            _put(batch, place, lane)
        if all(index is None for index in places):
            return
        moved, finished = advance(batch)
        batch = jax.tree.map(lambda a: np.array(a), moved)
        for place, over in enumerate(np.asarray(finished)):
            index = places[place]
            if index is not None and over:
                done.put((index, jax.tree.map(lambda a, at=place: a[at].copy(), batch)))
                places[place] = None


def finished_lanes(
    count: int,
    *,
    start: Callable[[int], Lane],
    advance: Advance,
    width: int = 4,
    workers: int = 1,
) -> Iterator[tuple[int, Lane]]:
    """Each run's last state, as soon as it is there: `(index, lane)`.

    `advance` moves a batch by one chunk and says which lanes are done; it is the
    same compiled program for all. `workers` threads share the waiting runs.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in range(count):
        waiting.put(index)
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    stop = threading.Event()

    def work() -> None:
        try:
            _worker(waiting, done, stop, start, advance, width)
        except BaseException as error:
            done.put(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(count):
            item = done.get()
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()
        for thread in threads:
            thread.join()
