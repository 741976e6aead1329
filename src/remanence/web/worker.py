"""Work that needs JAX happens in a process of its own, so that pages stay quick.

One process, a short queue, a time limit: what takes too long is stopped by ending
the process, and the next request starts a fresh one.
"""

import asyncio
import concurrent.futures
import multiprocessing
from collections.abc import Callable
from typing import Any


class Busy(Exception):
    """More was asked at once than will be queued."""


class Late(Exception):
    """The answer did not come within the limit."""


def ready() -> None:
    """Prepare the worker before JAX starts in it."""
    import signal

    from ..cli.start import prepare_jax

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare_jax()


class Worker:
    """A process that answers one question after the other."""

    def __init__(self, *, queue: int = 16, limit: float = 60.0) -> None:
        self.queue = queue
        self.limit = limit
        self._waiting = 0
        self._pool: concurrent.futures.ProcessPoolExecutor | None = None

    def _started(self) -> concurrent.futures.ProcessPoolExecutor:
        if self._pool is None:
            self._pool = concurrent.futures.ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), initializer=ready
            )
        return self._pool

    async def __call__(self, question: Callable[..., Any], *given: Any) -> Any:
        """What the question answers; a ValueError of the question comes through."""
        if self._waiting >= self.queue:
            raise Busy
        self._waiting += 1
        try:
            future = self._started().submit(question, *given)
            return await asyncio.wait_for(asyncio.wrap_future(future), self.limit)
        except concurrent.futures.process.BrokenProcessPool:
            self.stop()
            raise Late from None
        except TimeoutError:
            self.stop()
            raise Late from None
        finally:
            self._waiting -= 1

    def stop(self) -> None:
        """End the process; the next question starts another."""
        pool, self._pool = self._pool, None
        if pool is not None:
            processes = list((pool._processes or {}).values())
            for process in processes:
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)
