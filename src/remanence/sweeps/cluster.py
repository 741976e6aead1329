"""Chunks of lanes computed by the workers of a running Dask scheduler.

Every chunk is one task and every result is sent back to be stored here; a worker
keeps the programs it compiled. Dask itself repeats the tasks of a worker that dies.
Since bits depend on code, versions and processor, workers that differ in these are
refused, when the sweep begins and again in every task, as workers come and go.
"""

import collections
import contextlib
import hashlib
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from .._precision import as_numpy
from ..train.identity import environment, installed
from ..train.loop import as_jax
from .executor import Arrays, Hung, Lost, Program, Work
from .grid import Part


CONNECT, JOIN = 10.0, 60.0
"""Seconds to wait for a scheduler, and for its first worker."""
RETRIES = 3
AHEAD = 2
"""Tasks sent for each worker thread: one runs while the next one waits beside it."""


Payload = tuple[bytes, bool, str]
"""The work as bytes, whether it is in double precision, and its digest."""


class Cluster:
    """The workers of one scheduler, while the sweep lasts."""

    def __init__(self, work: Work, on: Any, chunk_limit: float | None = None):
        self.work, self.on, self.chunk_limit = work, on, chunk_limit
        self.client: Any = None
        self.wanted: dict[str, Any] | None = None

    def __enter__(self) -> "Cluster":
        try:
            import distributed
        except ImportError:
            raise ValueError(
                "on= needs Dask: pip install 'remanence[cluster]'"
            ) from None
        self.owned = not isinstance(self.on, distributed.Client)
        try:
            self.client = (
                distributed.Client(self.on, timeout=CONNECT, set_as_default=False)
                if self.owned
                else self.on
            )
        except (OSError, ValueError) as error:
            raise ValueError(f"no Dask scheduler answers at {self.on}") from error
        try:
            self.client.wait_for_workers(1, timeout=JOIN)
        except TimeoutError:
            self.__exit__()
            raise ValueError(
                f"no worker has joined the scheduler at {self.on}"
            ) from None
        return self

    def __exit__(self, *reason) -> None:
        if self.owned and self.client is not None:
            self.client.close(timeout=5)

    def environment(self) -> dict[str, Any]:
        """What decides the bits there: one answer of all workers, our code and versions."""
        if self.wanted is not None:
            return self.wanted
        payload = _packed(self.work)
        ours = _environment_there(payload)
        first: dict[str, Any] = {}
        for worker, theirs in self._answers(payload).items():
            if isinstance(theirs, Exception):
                raise ValueError(f"worker {worker} cannot take the sweep: {theirs}")
            first = first or theirs
            wanted = first | {name: ours[name] for name in ("code", "versions")}
            if theirs != wanted:
                raise ValueError(f"worker {worker} {_difference(theirs, wanted)}")
        self.wanted = first
        return first

    def _answers(self, payload: Payload) -> dict[str, Any]:
        """What each worker says of itself; one that is just dying says nothing."""
        end = time.monotonic() + JOIN
        while time.monotonic() < end:
            try:
                said = self.client.run(_environment_there, payload, on_error="return")
            except OSError as error:
                raise ValueError(f"the scheduler at {self.on} is gone") from error
            said = {w: a for w, a in said.items() if not isinstance(a, OSError)}
            if said:
                return said
            time.sleep(0.5)
        raise ValueError(f"no worker of the scheduler at {self.on} answers")

    def computed(
        self, parts: Sequence[Part], late: Callable[[], bool]
    ) -> Iterator[tuple[Part, Arrays]]:
        """Each part with its arrays as it arrives; once `late`, no further one is sent."""
        import distributed

        if not parts:
            return
        payload = _packed(self.work)
        wanted = self.environment()
        run = uuid.uuid4().hex[:8]
        # A task, not scattered data: if its worker dies the scheduler makes it again.
        sent = self.client.submit(_kept, payload, key=f"work-{run}", retries=RETRIES)
        waiting, running, given_up = list(parts)[::-1], {}, []
        arriving = distributed.as_completed(loop=self.client.loop)

        def send(part: Part) -> None:
            future = self.client.submit(
                _task,
                sent,
                part,
                wanted,
                self.chunk_limit,
                key=f"{part.name}-{run}",
                retries=RETRIES,
                pure=False,
            )
            running[future.key] = part, future
            arriving.add(future)

        threads = sum(self.client.nthreads().values()) or 1
        while waiting or running:
            while waiting and len(running) < AHEAD * threads:
                if len(waiting) < len(parts) and late():
                    waiting.clear()
                    break
                send(waiting.pop())
            future = next(arriving)
            part, _ = running.pop(future.key)
            result = self._result(future, part)
            if isinstance(result, _Overdue):
                given_up.append(part.name)
                self.client.restart_workers([result.worker], raise_for_error=False)
            else:
                yield part, result
        if given_up:
            raise Hung(
                f"{' and '.join(given_up)} did not end within {self.chunk_limit:g} s"
            )

    def _result(self, future: Any, part: Part) -> Any:
        import distributed

        try:
            return future.result()
        except distributed.KilledWorker:
            raise Lost(f"{part.name} ended every worker that tried it") from None
        except (distributed.CancelledError, OSError) as error:
            raise Lost(f"the scheduler at {self.on} is gone") from error


def _packed(work: Work) -> Payload:
    """The work in bytes; functions of scripts travel whole, installed ones by name."""
    import cloudpickle

    module = sys.modules.get(getattr(work.lane, "__module__", None) or "")
    known = cloudpickle.list_registry_pickle_by_value()
    if module is None or installed(work.lane) or module.__name__ in known:
        scope = contextlib.nullcontext()
    else:
        cloudpickle.register_pickle_by_value(module)
        scope = contextlib.ExitStack()
        scope.callback(cloudpickle.unregister_pickle_by_value, module)
    with scope:
        content = cloudpickle.dumps((work.grid, work.lane, as_numpy(work.data)))
    return content, work.x64, hashlib.sha256(content).hexdigest()


def _unpacked(payload: Payload) -> Work:
    import cloudpickle

    content, x64, _ = payload
    # A message of our own client through Dask, never a file. Opened in the scope, since
    # a float64 array would arrive outside it as float32.
    with jax.enable_x64(x64):
        grid, lane, data = cloudpickle.loads(content)
        return Work(grid, lane, as_jax(data), x64)


def _environment_there(payload: Payload) -> dict[str, Any]:
    with jax.enable_x64(payload[1]):
        return environment(_unpacked(payload).lane)


def _difference(theirs: dict[str, Any], wanted: dict[str, Any]) -> str:
    for name, version in wanted["versions"].items():
        if theirs["versions"].get(name) != version:
            there = theirs["versions"].get(name)
            return f"has {name} {there}, but {version} is wanted"
    names = [name for name in wanted if theirs.get(name) != wanted[name]]
    return f"has another {' and '.join(names)}, so its bits could differ"


def _kept(payload: Payload) -> Payload:
    """The same; a task, so that the scheduler can make it again."""
    return payload


class _Overdue:
    """Stands for the arrays of a chunk that was given up."""

    def __init__(self, worker: str):
        self.worker = worker


_PROGRAMS: collections.OrderedDict[str, Program] = collections.OrderedDict()
_KEPT = 8
_LOCK = threading.Lock()


def _program(payload: Payload, number: int, wanted: dict[str, Any]) -> Program:
    """The program of a static point, made once a worker."""
    name = f"{payload[2]} {payload[1]} {number}"
    with _LOCK:
        if name not in _PROGRAMS:
            here = _environment_there(payload)
            if here != wanted:
                raise ValueError(f"a worker {_difference(here, wanted)}")
            _PROGRAMS[name] = Program(_unpacked(payload), number)
            if len(_PROGRAMS) > _KEPT:
                _PROGRAMS.popitem(last=False)
        return _PROGRAMS[name]


def _task(
    payload: Payload,
    part: Part,
    wanted: dict[str, Any],
    limit: float | None,
) -> Arrays | _Overdue:
    """One chunk, on a worker."""
    program = _program(payload, part.program, wanted)
    if limit is None:
        return program(part)
    program.ready()  # compiling does not count
    # The chunk cannot be interrupted; it is left behind in a thread of its own, and
    # the client then has this worker restarted.
    box: list[Any] = []

    def run():
        try:
            box.append(program(part))
        except Exception as error:
            box.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit)
    if not box:
        import distributed

        return _Overdue(distributed.get_worker().address)
    if isinstance(box[0], Exception):
        raise box[0]
    return box[0]
