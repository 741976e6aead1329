"""`remanence reproduce`: run studies, say what they cost, keep what is finished."""

import contextlib
import os
import pathlib
import signal
import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from .._stop import check_stop, request_stop, requested_stop


PATIENCE = 5.0
"""Seconds in which work should ask whether it is to stop."""


class TimeUp(Exception):
    """The time that the user gave is over."""


def seconds(text: str | None) -> float | None:
    """A time such as 90, 90s, 5m or 2h in seconds."""
    if text is None:
        return None
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number, unit = (text[:-1], text[-1]) if text[-1:] in units else (text, "s")
    try:
        limit = float(number) * units[unit]
    except ValueError:
        limit = 0.0
    if not 0 < limit < float("inf"):
        raise ValueError(f"--time-limit takes a time such as 90, 90s or 5m, got {text!r}")
    return limit


def cell_of(text: str) -> dict[str, str]:
    """The cell that `k=v,…` names."""
    pairs = [part.partition("=") for part in text.split(",")]
    if any(not (name.strip() and mark and value.strip()) for name, mark, value in pairs):
        raise ValueError(f"--cell takes name=value,name=value, got {text!r}")
    cell = {name.strip(): value.strip() for name, _, value in pairs}
    if len(cell) < len(pairs):
        raise ValueError(f"--cell takes each name once, got {text!r}")
    return cell


@contextlib.contextmanager
def only_on_stderr() -> Iterator[None]:
    """Whatever writes to stdout inside, also below Python, writes to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


@contextlib.contextmanager
def stopping(limit: float | None) -> Iterator[None]:
    """Ctrl-C, SIGTERM and a run far over its limit ask for a stop (`_stop.py`).

    Sweeps know the limit and stop by themselves; the alarm is for what does not. What
    does not ask for a stop either has it thrown, after `PATIENCE` and again, since a
    thrown exception may be swallowed.
    """

    def interrupted(number: int, frame: Any) -> None:
        again = requested_stop() is not None
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
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)
        request_stop(None)


def reproduce(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A study's name, or all.")],
    profile: Annotated[
        str, typer.Option(help="quick, or full: the document's own sizes.")
    ] = "quick",
    out: Annotated[
        pathlib.Path, typer.Option(help="The folder that the results go to.")
    ] = pathlib.Path("results"),
    seed: Annotated[int, typer.Option(help="Seed of every draw.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, only the summary.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on stdout, no table.")
    ] = False,
    time_limit: Annotated[
        str | None, typer.Option(help="Stop about then, keep what is finished: 90, 5m, 2h.")
    ] = None,
    cell: Annotated[
        str | None,
        typer.Option(
            help="Redo one cell of a published table: name=value,… (shared-representations: frac, sigma, seed, mask, way)."
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            help="Run sweeps on a Dask scheduler, tcp://host:port; else on all cores here."
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Recompute also what is already there.")
    ] = False,
) -> None:
    """Run a study: its claims, measured beside what was published.

    An unfinished run goes on where it was stopped. A finished one, made by the same
    code with the same seed, is read back; --again makes it anew.
    """
    from .one_cell import cell_again
    from .session import Session
    from .start import prepare_jax

    limit = seconds(time_limit)
    named = None if cell is None else cell_of(cell)
    if on is not None and not on.startswith(("tcp://", "tls://")):
        raise ValueError(f"--on takes a scheduler's address such as tcp://host:8786, got {on!r}")
    if seed < 0:
        raise ValueError(f"--seed must not be negative, got {seed}")
    if seed >= 2**32:
        raise ValueError(f"--seed must be below 2³², got {seed}")
    prepare_jax(one_thread=profile == "quick")
    session = Session(
        profile=profile,
        out=out,
        seed=seed,
        quiet=quiet,
        again=again,
        deadline=None if limit is None else time.monotonic() + limit,
        on=on,
    )
    names = session.names(study)
    if named is not None and len(names) > 1:
        raise ValueError("--cell needs one study, not all")
    with only_on_stderr() if as_json else contextlib.nullcontext(), stopping(limit):
        if named is not None:
            answer, code = cell_again(session, names[0], named), 0
        else:
            code = session.run(names, summary=not as_json)
            answer = session.document
    if as_json or named is not None:
        from .table import print_json

        print_json(answer)
    raise typer.Exit(code)
