"""Progress on stderr: one line for each study or network, rewritten in place on a terminal."""

import sys
import textwrap
import time

from .._escape import printable
from .app import say


class ProgressLines:
    """A line for each name, while the scope lasts; none if `quiet`."""

    def __init__(self, *, quiet: bool, say_seconds: bool = True):
        self.quiet, self.say_seconds = quiet, say_seconds
        self.live = sys.stderr.isatty() and not quiet
        self._begun: dict[str, float] = {}
        self._bars = {}

    def __enter__(self) -> "ProgressLines":
        if self.live:
            from rich.console import Console
            from rich.progress import Progress, TextColumn, TimeElapsedColumn

            name = TextColumn("{task.fields[name]:<24}", markup=False)
            what = TextColumn("{task.description}", markup=False)
            console = Console(file=sys.stderr, highlight=False)
            self._room = max(20, console.width - 36)
            self._progress = Progress(name, TimeElapsedColumn(), what, console=console)
            self._progress.start()
        return self

    def tell(self, name: str, sentence: str, *, done: bool = False) -> None:
        """What is being done now under this name."""
        now = time.monotonic()
        seconds = now - self._begun.setdefault(name, now)
        if self.live:
            if name not in self._bars:
                self._bars[name] = self._progress.add_task("", name=printable(name), total=1)
            # At words, so that no number is cut.
            short = textwrap.shorten(printable(sentence), self._room, placeholder=" …")
            self._progress.update(self._bars[name], description=short, completed=int(done))
        elif not self.quiet:
            say(f"{name}{f' {seconds:.0f} s' if self.say_seconds else ''}: {sentence}")

    def __exit__(self, *reason) -> None:
        if self.live:
            self._progress.stop()
