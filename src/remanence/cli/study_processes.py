"""Quick studies in worker processes, a core each, as many as there are cores.

Compiling takes most of a quick study and keeps one core busy, so two studies at a
time take hardly longer than one. Each runs as it does alone, to the same bits.
"""

import concurrent.futures
import pathlib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .._cores import ENOUGH
from .._stop import check_stop
from ..sweeps.pool import BrokenProcessPool, send_message, WorkerPool
from .start import prepare_jax


def run_in_processes(
    names: Sequence[str],
    wishes: Callable[[], Mapping[str, Any]],
    *,
    tell: Callable[[str], None],
    workers: int,
) -> Iterator[tuple[str, int, str]]:
    """Run studies with these wishes; name, exit code, and seconds or why it failed, as each ends.

    Left early (an interrupt, an error), it ends those that still run; their finished
    parts are on disk.
    """
    waiting, running = list(names), dict[concurrent.futures.Future, str]()
    environment = {ENOUGH: "1"}
    with WorkerPool(workers, environment=environment, import_script=True) as pool:
        while waiting or running:
            while waiting and len(running) < workers:
                name = waiting.pop(0)
                running[pool.submit(_run_study, name, dict(wishes()))] = name
            ended, _ = concurrent.futures.wait(
                running, timeout=0.1, return_when=concurrent.futures.FIRST_COMPLETED
            )
            while not pool.messages.empty():
                tell(pool.messages.get())
            check_stop()
            for future in ended:
                name = running.pop(future)
                try:
                    yield name, *future.result()
                except BrokenProcessPool:
                    yield name, 1, "its process was killed"


def _run_study(name: str, wishes: dict[str, Any]) -> tuple[int, str]:
    """One study, in a worker: its exit code, and its seconds or why it failed."""
    prepare_jax(one_thread=True)
    from ..sweeps import Unfinished
    from .app import ours
    from .reproduce import stopping, TimeUp
    from .session import Session

    def tell(sentence: str) -> None:
        mine = sentence.startswith(name)
        send_message(sentence if mine else f"{name} {sentence}")

    given: dict[str, Any] = wishes | {"out": pathlib.Path(wishes["out"]), "say": tell}
    session = Session(**given)
    limit = None if session.deadline is None else session.left()
    try:
        with stopping(limit):
            session.run_one(name)
    except (TimeUp, Unfinished) as stop:
        session.tell_stopped(stop, [name])
        return 130, str(stop)
    except Exception as error:
        if isinstance(error, ValueError) and ours(error):
            return 2, str(error)
        send_message("".join(traceback.format_exception(error)).rstrip())
        return 1, f"{type(error).__name__}: {error}"
    return 0, f"{session.seconds.get(name, 0.0):.3f}"
