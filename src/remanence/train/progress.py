"""Progress on stderr, with the time left, for anything that takes seconds."""

import contextlib
import sys
from collections.abc import Callable, Iterator

import rich.console
import rich.progress


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
    listener = _listener
    if quiet or listener is not None:
        tell = listener or (lambda *words: None)
        yield lambda now: tell(title, now, total, unit)
        return
    columns = (
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TextColumn(unit),
        rich.progress.TimeRemainingColumn(compact=True),
    )
    console = rich.console.Console(file=sys.stderr)
    with rich.progress.Progress(*columns, console=console) as progress:
        task = progress.add_task(title, total=total, completed=done)
        yield lambda now: progress.update(task, completed=now)
