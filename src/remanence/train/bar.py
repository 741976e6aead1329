"""A bar on stderr with rate and time left, for anything that takes seconds."""

import contextlib
import sys
from collections.abc import Callable, Iterator

import rich.console
import rich.progress


@contextlib.contextmanager
def progress_bar(
    title: str, *, total: int, done: int = 0, unit: str, quiet: bool
) -> Iterator[Callable[[int], None]]:
    """A function that takes how much is done now; it draws nothing when `quiet`."""
    if quiet:
        yield lambda now: None
        return
    columns = (
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TextColumn(unit),
        _Rate(),
        rich.progress.TimeRemainingColumn(compact=True),
    )
    console = rich.console.Console(file=sys.stderr)
    with rich.progress.Progress(*columns, console=console) as progress:
        task = progress.add_task(title or "running", total=total, completed=done)
        yield lambda now: progress.update(task, completed=now)


class _Rate(rich.progress.ProgressColumn):
    """How many a second."""

    def render(self, task: rich.progress.Task) -> str:
        return "" if not task.speed else f"{task.speed:.3g}/s"


def told(sentence: str) -> None:
    """Say one sentence on stderr."""
    sys.stderr.write(sentence + "\n")
