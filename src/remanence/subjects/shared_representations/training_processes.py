"""Trainings in processes of their own, a core each: whoever is free takes the next run.

One training at D = H = 32 fits into the cache of one core, and its matrices are too
small to be shared between cores; two XLA programs in two threads of one process were
seen to hang. So several cores mean several processes, each with one run at a time.
"""

import concurrent.futures
import contextlib
import functools
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..._cores import cores
from .pair_training import PairFit, PairRun


Way = Callable[..., Iterator[tuple[int, PairFit]]]
"""One of the three ways down."""


def _pinned(free: Any) -> None:
    """Stay on one core: XLA then has one thread and hands no work over."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {free.get()})


@contextlib.contextmanager
def _without_script() -> Iterator[None]:
    """Python would run the user's script again in every process that it starts."""
    main = sys.modules["__main__"]
    told = {name: vars(main).get(name) for name in ("__file__", "__spec__")}
    vars(main).update(dict.fromkeys(told))
    try:
        yield
    finally:
        vars(main).update(told)
        if told["__file__"] is None:
            vars(main).pop("__file__")


def _alone(train: Way, run: PairRun, options: dict[str, Any]) -> PairFit:
    ((_, fit),) = train([run], width=1, **options)
    return fit


@functools.cache
def _processes(workers: int) -> concurrent.futures.ProcessPoolExecutor:
    # Started once a size: an import of JAX and a compilation are paid by the first runs.
    context = multiprocessing.get_context("spawn")
    free, here = context.Queue(), cores()
    for worker in range(workers):
        free.put(here[worker % len(here)])
    return concurrent.futures.ProcessPoolExecutor(
        workers, mp_context=context, initializer=_pinned, initargs=(free,)
    )


def side_by_side(
    train: Way, runs: Sequence[PairRun], *, workers: int, **options: Any
) -> Iterator[tuple[int, PairFit]]:
    """Yield `(index, fit)` as each run ends, whatever the order.

    `options` are the keywords of `train`.
    """
    pool = _processes(workers)
    with _without_script():  # processes are started by the first that is submitted
        waiting = {
            pool.submit(_alone, train, run, options): index
            for index, run in enumerate(runs)
        }
    try:
        for ended in concurrent.futures.as_completed(waiting):
            yield waiting[ended], ended.result()
    finally:
        for left in waiting:
            left.cancel()
