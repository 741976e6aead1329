"""A request to stop, polled between two pieces of work.

An exception that a signal handler throws can be swallowed (Python ignores exceptions in
weak-reference callbacks and finalisers). So the handler leaves a request, and loops that
have nothing half done ask for it.
"""

_reason: BaseException | None = None


def request_stop(reason: BaseException | None) -> None:
    """Ask for a stop with this exception; None takes the request back."""
    global _reason
    _reason = reason


def requested_stop() -> BaseException | None:
    """The exception that was asked for, if any."""
    return _reason


def check_stop() -> None:
    """Raise what was asked for; call it where nothing is half done."""
    if _reason is not None:
        raise _reason
