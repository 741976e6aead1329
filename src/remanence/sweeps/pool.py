"""A pool of worker processes on this machine, for lanes, trainings and whole studies.

Workers are fresh interpreters (`spawn`) of `concurrent.futures`: a fork would not
survive XLA's threads, and two XLA programs in two threads of one process were seen to
wait for each other for ever. Each compiles for itself, with the settings it inherits,
so its bits are those of this process by construction.
"""

import concurrent.futures
import contextlib
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool as BrokenProcessPool
from typing import Any


class WorkerPool:
    """Worker processes that end with this scope, and with this process however it ends.

    `environment` is set in each worker before it imports anything else. `pin_to` gives
    each worker one of these cores for itself. Unless `import_script`, Python does not
    run the user's script again in every worker.
    """

    def __init__(
        self,
        workers: int,
        *,
        environment: Mapping[str, str] | None = None,
        pin_to: tuple[int, ...] = (),
        import_script: bool = False,
    ):
        context = multiprocessing.get_context("spawn")
        self.messages, free = context.SimpleQueue(), context.SimpleQueue()
        for _, core in zip(range(workers), itertools.cycle(pin_to), strict=False):
            free.put(core)
        begun = (dict(environment or {}), free if pin_to else None, self.messages)
        self._running: set[concurrent.futures.Future] = set()
        self._scope = contextlib.nullcontext if import_script else _script_hidden
        self._pool = concurrent.futures.ProcessPoolExecutor(workers, context, _begin, begun)
        # All workers at the first call: where one dies while another is being started,
        # the executor's own thread fails ("dictionary changed size during iteration").
        vars(self._pool)["_safe_to_dynamically_spawn_children"] = False

    def __enter__(self) -> "WorkerPool":
        return self

    def submit(self, function: Callable, *arguments: Any) -> concurrent.futures.Future[Any]:
        """Have a worker call a function that can be pickled."""
        with self._scope():  # processes are started by the first that is submitted
            future = self._pool.submit(function, *arguments)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    def __exit__(self, *reason) -> None:
        # What still runs is not wanted any more; `shutdown` alone would wait for it.
        processes = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            if not self._running:  # it ends by itself, and takes what it made with it
                process.join(5.0)
            process.kill()
        for process in processes:
            process.join()


def as_completed(
    calls: Iterable[tuple[Any, tuple]],
    submit: Callable[..., Any],
    most: int,
    each_moment: Callable[[], Any],
) -> Iterator[tuple[Any, Any]]:
    """The key and the future of every call `(key, arguments of submit)` as it ends.

    No more than `most` are begun at once; `each_moment` is called while they run.
    """
    waiting, running = iter(calls), dict[Any, Any]()
    while True:
        for key, call in itertools.islice(waiting, most - len(running)):
            running[submit(*call)] = key
        if not running:
            return
        done = [future for future in running if future.done()]
        each_moment()
        yield from ((running.pop(future), future) for future in done)
        time.sleep(0.0 if done else 0.02)


_MESSAGES: Any = None


def send_message(message: Any) -> None:
    """From a worker to whoever reads `WorkerPool.messages`."""
    if _MESSAGES is not None:
        _MESSAGES.put(message)


def _begin(environment: dict[str, str], free: Any, messages: Any) -> None:
    """The first thing that a worker does."""
    global _MESSAGES
    _MESSAGES = messages
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches it through our end
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if free is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {free.get()})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


@contextlib.contextmanager
def _script_hidden() -> Iterator[None]:
    """Python would run the user's script again in every process that it starts."""
    main = vars(sys.modules["__main__"])
    before = {name: main[name] for name in ("__file__", "__spec__") if name in main}
    main.update(__file__=None, __spec__=None)
    try:
        yield
    finally:
        main.update(before)
        if "__file__" not in before:
            del main["__file__"]
