"""Progress on stderr, with the time left, for anything that takes seconds."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


Listener = Callable[[str, int, int, str], None]
"""Takes a title, how much is done, of how much, and the unit."""
_listener: Listener | None = None


@contextlib.contextmanager
def progress_listener(listener: Listener) -> Iterator[None]:
    """A scope in which progress goes to `listener`, which has one place for all of it."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


@contextlib.contextmanager
def progress_bar(
    title: str, *, total: int, done: int = 0, unit: str, quiet: bool
) -> Iterator[Callable[[int], None]]:
    """A function that takes how much is done now; it shows nothing when `quiet`."""
    if quiet or _listener is not None:
        tell = _listener or (lambda *words: None)
        yield lambda now: tell(title, now, total, unit)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit)
    console = Console(file=sys.stderr)
    with Progress(*columns, TimeRemainingColumn(compact=True), console=console) as progress:
        task = progress.add_task(title, total=total, completed=done)
        yield lambda now: progress.update(task, completed=now)
