"""Progress of studies on stderr: one line a study, rewritten in place.

Where stderr is no terminal, every sentence has a line of its own.
"""

import sys
import textwrap
import time
from collections.abc import Sequence

from .._escape import printable
from .app import say


class StudyLines:
    """A line for each study, while the scope lasts; none if `quiet`."""

    def __init__(self, names: Sequence[str], *, quiet: bool):
        self.names, self.quiet = names, quiet
        self.live = sys.stderr.isatty() and not quiet
        self._begun: dict[str, float] = {}
        self._bars = {}

    def __enter__(self) -> "StudyLines":
        if self.live:
            from rich.console import Console
            from rich.progress import Progress, TextColumn, TimeElapsedColumn

            name = TextColumn("{task.fields[study]:<24}", markup=False)
            what = TextColumn("{task.description}", markup=False)
            console = Console(file=sys.stderr, highlight=False)
            self._room = max(20, console.width - 36)
            self._progress = Progress(name, TimeElapsedColumn(), what, console=console)
            self._progress.start()
        return self

    def tell(self, name: str, sentence: str, *, done: bool = False) -> None:
        """What a study is doing now."""
        now = time.monotonic()
        seconds = now - self._begun.setdefault(name, now)
        if self.live:
            if name not in self._bars:
                self._bars[name] = self._progress.add_task("", study=name, total=1)
            # At words, so that no number is cut.
            short = textwrap.shorten(printable(sentence), self._room, placeholder=" …")
            self._progress.update(self._bars[name], description=short, completed=int(done))
        elif not self.quiet:
            say(f"{name} {seconds:.0f} s: {sentence}")

    def __exit__(self, *reason) -> None:
        if self.live:
            self._progress.stop()
