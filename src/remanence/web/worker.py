"""Questions that need JAX are answered in a process of their own, so that pages stay quick.

One at a time, in the order in which they came. One that nobody waits for any more leaves the
queue; one that runs too long is stopped by ending the process, and the next starts a fresh one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import HTTPException

from .._prepare_jax import prepare_jax
from ..sweeps.pool import BrokenProcessPool, WorkerPool


LATE = (503, "the answer took too long; ask for less")
GONE = (503, "nobody waits for this answer")


def _answer(question: Callable[..., Any], given: tuple) -> Any:
    prepare_jax()  # before the question imports JAX
    return question(*given)


class Worker:
    """A process that answers one question after the other."""

    def __init__(self, *, queue: int = 16, limit: float = 60.0, patience: float = 2.0) -> None:
        self.queue, self.limit, self.patience = queue, limit, patience
        self._waiting: list[object] = []
        self._pool: WorkerPool | None = None
        self._warm = False  # whether the process has answered before, and so has imported

    async def __call__(
        self, gone: Callable[[], Awaitable[bool]], question: Callable[..., Any], *given: Any
    ) -> Any:
        """What the question answers, or its ValueError; `gone` says whether whoever asked has left."""
        if len(self._waiting) >= self.queue:
            raise HTTPException(429, "too much was asked at once; try again")
        place = object()
        self._waiting.append(place)
        try:
            while self._waiting[0] is not place:
                if await gone():
                    raise HTTPException(*GONE)
                await asyncio.sleep(0.02)
            return await self._asked(gone, question, given)
        finally:
            self._waiting.remove(place)

    async def _asked(self, gone: Callable, question: Callable, given: tuple) -> Any:
        self._pool = self._pool or WorkerPool(1)
        answer = asyncio.wrap_future(self._pool.submit(_answer, question, given))
        clock = asyncio.get_running_loop().time
        begun, left = clock(), None
        while not answer.done():
            await asyncio.wait({answer}, timeout=0.05)
            if left is None and await gone():
                left = clock()
            # Starting anew costs seconds, so a short question is let go to its end, and
            # so is the first: whoever changes a question at once would always start anew.
            unwanted = left is not None and self._warm and clock() - left > self.patience
            if unwanted or clock() - begun > self.limit:
                answer.cancel()
                self.stop()
                raise HTTPException(*(GONE if unwanted else LATE))
        self._warm = True
        try:
            return answer.result()
        except BrokenProcessPool:
            self.stop()
            raise HTTPException(*LATE) from None

    def stop(self) -> None:
        """End the process; the next question starts another."""
        pool, self._pool, self._warm = self._pool, None, False
        if pool is not None:
            pool.__exit__()
