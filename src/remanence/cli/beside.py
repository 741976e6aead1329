"""Studies side by side: one process and one core each, as many as there are cores.

Compiling takes most of a quick study and keeps one core busy, so two studies at a
time take hardly longer than one. Each runs as it does alone, to the same bits.
"""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from .._cores import ENOUGH


def _this_command() -> list[str]:
    """The words that started this process, up to the command's name."""
    words = sys.orig_argv
    if "reproduce" in words:
        return [sys.executable, *words[1 : words.index("reproduce")]]
    return [sys.executable, "-m", "remanence"]


class Beside:
    """A study in a process of its own, and what it said."""

    def __init__(self, name: str, options: Sequence[str], tell: Callable[[str], None]):
        self.name = name
        self.said: list[str] = []
        # In a group of its own: Ctrl-C reaches it once, through us.
        self.process = subprocess.Popen(
            [*_this_command(), "reproduce", name, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
            env=os.environ | {ENOUGH: "1"},
        )
        self._tell = tell
        self._reader = threading.Thread(target=self._relay, daemon=True)
        self._reader.start()

    def _relay(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.strip():
                self.said.append(line.strip())
                mine = line.strip().startswith(self.name)
                self._tell(line.strip() if mine else f"{self.name} {line.rstrip()}")

    def end(self) -> int:
        """Wait until it has ended and everything that it said was read."""
        code = self.process.wait()
        self._reader.join()
        return code

    def interrupt(self) -> None:
        """Have it stop and keep its finished parts, as Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)


def side_by_side(
    names: Sequence[str],
    *,
    out: pathlib.Path,
    options: Callable[[], Sequence[str]],
    tell: Callable[[str], None],
    at_once: int,
) -> Iterator[tuple[str, int, list[str]]]:
    """Run the studies, `at_once` at a time; name, exit code and words as each ends.

    Left early (an interrupt, an error), it interrupts those that still run and waits
    until they have kept their parts.
    """
    waiting, running = list(names), list[Beside]()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                words = ["--out", str(out), *options()]
                running.append(Beside(waiting.pop(0), words, tell))
            for study in [s for s in running if s.process.poll() is not None]:
                running.remove(study)
                yield study.name, study.end(), study.said
            time.sleep(0.05)
    finally:
        for study in running:
            study.interrupt()
        for study in running:
            study.end()
