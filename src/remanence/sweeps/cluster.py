"""Chunks of lanes computed by the workers of a running Dask scheduler.

Every chunk is one task and every result is sent back to be stored here. Dask itself
repeats the tasks of a worker that dies; where no worker is left, the sweep ends with
what it has. Since bits depend on code, versions and processor, the first worker's must be
ours, and every task refuses a worker that differs from it (`worker.py`).
"""

import contextlib
import functools
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .grid import Part
from .pool import as_completed
from .worker import Arrays, difference, environment_there, LostError, pack, task, Work


CONNECT, JOIN, ALONE = 10.0, 60.0, 60.0
"""Seconds to wait for a scheduler, for its first worker, and for another if all died."""
RETRIES = 3
AHEAD = 2  # tasks sent for each worker thread: one runs while the next one waits beside it


@contextlib.contextmanager
def connected(work: Work, on: Any) -> Iterator["Cluster"]:
    """The workers of a scheduler (its address, a client or a cluster of Dask's) for a sweep."""
    try:
        import distributed
    except ImportError:
        words = "on= needs Dask: pip install '.[cluster]' in a clone of remanence"
        raise ValueError(words) from None
    with contextlib.ExitStack() as scope:
        client = on
        if not isinstance(on, distributed.Client):
            try:
                client = distributed.Client(on, timeout=CONNECT, set_as_default=False)
            except (OSError, ValueError) as error:
                raise ValueError(f"no Dask scheduler answers at {on}") from error
            scope.callback(client.close, timeout=5)
        try:
            client.wait_for_workers(1, timeout=JOIN)
        except TimeoutError:
            raise ValueError(f"no worker has joined the scheduler at {on}") from None
        yield Cluster(work, on, client)


class Cluster:
    """The workers of one scheduler, while the sweep lasts."""

    def __init__(self, work: Work, on: Any, client: Any):
        self.work, self.on, self.client = work, on, client
        self.asked, self.alone = time.monotonic(), 0.0

    @functools.cached_property
    def environment(self) -> dict[str, Any]:
        """What decides the bits there, by the answer of a worker with our code and versions."""
        payload = pack(self.work)
        ours, name = environment_there(payload), f"environment-{uuid.uuid4().hex[:8]}"
        asked = self.client.submit(environment_there, payload, key=name, retries=RETRIES)
        try:
            theirs = self._result(asked, name)
        except LostError as error:
            raise ValueError(str(error)) from error
        except Exception as error:  # whatever unpacking raises there
            raise ValueError(f"a worker cannot take the sweep: {error}") from error
        wanted = theirs | {name: ours[name] for name in ("code", "versions")}
        if theirs != wanted:
            (where,) = self.client.who_has([asked]).values()
            raise ValueError(f"worker {' '.join(where)} {difference(theirs, wanted)}")
        return theirs

    def compute(
        self, parts: Sequence[Part], late: Callable[[], bool]
    ) -> Iterator[tuple[Part, Arrays]]:
        """Each part with its arrays as it arrives; once `late`, no further one is sent."""
        if not parts:
            return
        wanted, run = self.environment, uuid.uuid4().hex[:8]
        options: dict[str, Any] = {"retries": RETRIES, "pure": False}
        # A task of its own, so that the scheduler can make it again if its worker dies.
        sent = self.client.submit(tuple, pack(self.work), key=f"work-{run}", **options)

        def submit(part: Part) -> Any:
            name = f"{part.name}-{run}"
            return self.client.submit(task, sent, part, wanted, key=name, **options)

        calls = ((part, (part,)) for part in parts if part is parts[0] or not late())
        most = AHEAD * (sum(self.client.nthreads().values()) or 1)
        for part, future in as_completed(calls, submit, most, self._check_workers):
            yield part, self._result(future, part.name)

    def _result(self, future: Any, name: str) -> Any:
        import distributed

        timeout = 1.0
        while True:
            timeout *= 2
            try:
                return future.result(timeout=timeout)
            except distributed.KilledWorker:
                raise LostError(f"{name} ended every worker that tried it") from None
            except TimeoutError:
                if future.status == "error":
                    raise
                # It died with its worker and is computed again, or is large and takes its time.
                self._check_workers()
            except (distributed.CancelledError, OSError) as error:
                raise LostError(f"the scheduler at {self.on} is gone") from error

    def _check_workers(self) -> None:
        """Nothing, unless there has been no worker for too long, or no scheduler."""
        passed = time.monotonic() - self.asked
        if passed < 1.0:
            return
        self.asked += passed
        try:
            # Nobody asked while a result was being stored, however long that took.
            self.alone = 0.0 if self.client.nthreads() else self.alone + min(passed, 2.0)
        except (OSError, TimeoutError) as error:
            raise LostError(f"the scheduler at {self.on} is gone") from error
        if self.alone > ALONE:
            raise LostError(f"the scheduler at {self.on} has had no worker for {ALONE:g} s")
