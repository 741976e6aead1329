"""A request to stop, polled between two pieces of work, and the signals that make one.

An exception that a signal handler throws can be swallowed (Python ignores exceptions in
weak-reference callbacks and finalisers). So the handler leaves a request, and loops that
have nothing half done ask for it.
"""

import contextlib
import signal
from collections.abc import Iterator
from typing import Any


PATIENCE = 5.0  # seconds in which work should ask whether it is to stop
_reason: BaseException | None = None


class TimeUp(Exception):
    """The time that the user gave is over."""


def request_stop(reason: BaseException | None) -> None:
    """Ask for a stop with this exception; None takes the request back."""
    global _reason
    _reason = reason


def check_stop() -> None:
    """Raise what was asked for; call it where nothing is half done."""
    if _reason is not None:
        raise _reason


@contextlib.contextmanager
def stop_on_signals(limit: float | None) -> Iterator[None]:
    """Ctrl-C, SIGTERM and a run far over its limit ask for a stop.

    Sweeps know the limit and stop by themselves; the alarm is for what does not. What
    does not ask for a stop either has it thrown, after `PATIENCE` and again, since a
    thrown exception may be swallowed.
    """

    def interrupted(number: int, frame: Any) -> None:
        again = _reason is not None
        request_stop(KeyboardInterrupt())
        signal.setitimer(signal.ITIMER_REAL, PATIENCE, PATIENCE)
        if again and number == signal.SIGINT:
            raise KeyboardInterrupt

    def alarm(number: int, frame: Any) -> None:
        check_stop()
        request_stop(TimeUp())
        signal.setitimer(signal.ITIMER_REAL, PATIENCE, PATIENCE)

    handlers = {signal.SIGINT: interrupted, signal.SIGTERM: interrupted, signal.SIGALRM: alarm}
    before = {number: signal.signal(number, h) for number, h in handlers.items()}
    if limit:
        signal.setitimer(signal.ITIMER_REAL, limit + 2.0)
    try:
        yield
        check_stop()  # one that came while nothing was left to do
    finally:
        end_stop()
        for number, handler in before.items():
            signal.signal(number, handler)


def end_stop() -> None:
    """A stop was taken: none is thrown after it."""
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    request_stop(None)
