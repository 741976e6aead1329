"""Chunks of lanes computed by the workers of a running Dask scheduler.

Every chunk is one task and every result is sent back to be stored here. Dask itself
repeats the tasks of a worker that dies; where no worker is left, the sweep ends with
what it has. Since bits depend on code, versions and processor, workers that differ in
these are refused, when the sweep begins and again in every task (`worker.py`).
"""

import functools
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .grid import Part
from .worker import Arrays, difference, environment_there, LostError, pack, Payload, task, Work


CONNECT, JOIN, ALONE = 10.0, 60.0, 60.0
"""Seconds to wait for a scheduler, for its first worker, and for another if all died."""
RETRIES = 3
AHEAD = 2  # tasks sent for each worker thread: one runs while the next one waits beside it


def _payload(payload: Payload) -> Payload:
    """The same; a task, so that the scheduler can make it again if its worker dies."""
    return payload


class Cluster:
    """The workers of one scheduler, while the sweep lasts."""

    def __init__(self, work: Work, on: Any):
        self.work, self.on = work, on
        self.client: Any = None
        self.seen = self.asked = time.monotonic()

    def __enter__(self) -> "Cluster":
        try:
            import distributed
        except ImportError:
            raise ValueError(
                "on= needs Dask: pip install '.[cluster]' in a clone of remanence"
            ) from None
        self.client, self.owned = self.on, not isinstance(self.on, distributed.Client)
        if self.owned:
            try:
                self.client = distributed.Client(self.on, timeout=CONNECT, set_as_default=False)
            except (OSError, ValueError) as error:
                raise ValueError(f"no Dask scheduler answers at {self.on}") from error
        try:
            self.client.wait_for_workers(1, timeout=JOIN)
        except TimeoutError:
            self.__exit__()
            raise ValueError(f"no worker has joined the scheduler at {self.on}") from None
        return self

    def __exit__(self, *reason) -> None:
        if self.owned:
            self.client.close(timeout=5)

    @functools.cached_property
    def environment(self) -> dict[str, Any]:
        """What decides the bits there: one answer of all workers, our code and versions."""
        payload = pack(self.work)
        ours = environment_there(payload)
        try:
            answers = self.client.run(environment_there, payload, on_error="return")
        except OSError as error:
            raise ValueError(f"the scheduler at {self.on} is gone") from error
        # A worker that is just dying gives no answer.
        answers = {w: a for w, a in answers.items() if not isinstance(a, OSError)}
        first: dict[str, Any] = {}
        for worker, theirs in answers.items():
            if isinstance(theirs, Exception):
                raise ValueError(f"worker {worker} cannot take the sweep: {theirs}")
            first = first or theirs
            wanted = first | {name: ours[name] for name in ("code", "versions")}
            if theirs != wanted:
                raise ValueError(f"worker {worker} {difference(theirs, wanted)}")
        if not first:
            raise ValueError(f"no worker of the scheduler at {self.on} answers")
        return first

    def compute(
        self, parts: Sequence[Part], late: Callable[[], bool]
    ) -> Iterator[tuple[Part, Arrays]]:
        """Each part with its arrays as it arrives; once `late`, no further one is sent."""
        if not parts:
            return
        wanted, run = self.environment, uuid.uuid4().hex[:8]
        submit = self.client.submit
        sent = submit(_payload, pack(self.work), key=f"work-{run}", retries=RETRIES)
        waiting, running = list(parts)[::-1], {}
        most = AHEAD * (sum(self.client.nthreads().values()) or 1)
        while waiting or running:
            while waiting and len(running) < most:
                if len(waiting) < len(parts) and late():
                    waiting.clear()
                    break
                part = waiting.pop()
                name = f"{part.name}-{run}"
                future = submit(task, sent, part, wanted, key=name, retries=RETRIES, pure=False)
                running[future] = part
            for future in self._ended(running):
                part = running.pop(future)
                yield part, self._result(future, part)

    def _ended(self, futures: Iterable[Any]) -> list[Any]:
        """Those that have ended, once there are any and as long as somebody computes."""
        self.seen = time.monotonic()
        while not (ended := [future for future in futures if future.done()]):
            time.sleep(0.02)
            self._check_workers()
        return ended

    def _result(self, future: Any, part: Part) -> Any:
        import distributed

        self.seen, patience = time.monotonic(), 2.0
        while True:
            try:
                return future.result(timeout=patience)
            except distributed.KilledWorker:
                raise LostError(f"{part.name} ended every worker that tried it") from None
            except TimeoutError:
                if future.status == "error":
                    raise
                # It was ready, but died with its worker and is computed again, or it
                # is large and takes its time.
                patience *= 2
                self._check_workers()
            except (distributed.CancelledError, OSError) as error:
                raise LostError(f"the scheduler at {self.on} is gone") from error

    def _check_workers(self) -> None:
        """Nothing, unless there has been no worker for too long, or no scheduler."""
        now = time.monotonic()
        if now - self.asked < 1.0:
            return
        self.asked = now
        try:
            self.seen = now if self.client.nthreads() else self.seen
        except (OSError, TimeoutError) as error:
            raise LostError(f"the scheduler at {self.on} is gone") from error
        if now - self.seen > ALONE:
            raise LostError(f"the scheduler at {self.on} has had no worker for {ALONE:g} s")
