"""One call of `reproduce`: several studies, none lost because another failed.

One study runs in this process. Several run in worker processes: quick ones as many at a
time as there are cores, since compiling takes most of their time and keeps one core busy;
full ones, and those whose work a cluster does, one after another.
"""

import concurrent.futures
import sys
import time
from collections.abc import Sequence
from typing import Any

from .._cores import cores, ENOUGH
from .._escape import printable
from .._stop import check_stop
from ..report import Record, StoredResult
from ..subjects import stored_result, write_index
from ..sweeps.pool import BrokenProcessPool, WorkerPool
from .app import say
from .progress import ProgressLines
from .run_study import cached_result, run_in_worker, run_study, STOPPED, Wishes
from .stop_signals import end_stop, TimeUp
from .table import console, summary_lines


class Session:
    """What came of the studies that were asked for."""

    def __init__(self, wishes: Wishes, *, quiet: bool):
        self.wishes, self.quiet = wishes, quiet
        self.results: dict[str, Record | StoredResult] = {}
        self.failed: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    @property
    def document(self) -> dict[str, Any]:
        """Everything that came of it, for `--json`."""
        studies = [found.document for found in self.results.values()]
        return {"studies": studies, "failed": self.failed}

    def run(self, names: Sequence[str]) -> int:
        """Run the studies; the exit code of the whole."""
        code = 0
        try:
            with ProgressLines(quiet=self.quiet) as lines:
                if len(names) == 1:
                    self._run_here(names[0], lines)
                else:
                    code = self._run_in_processes(names, lines)
        except STOPPED as stop:
            missing = [n for n in names if n not in self.results and n not in self.failed]
            if not self.wishes.again:  # one that was leaving has left its result whole
                missing = [n for n in missing if not self._read_back(n, just_made=True)]
            self._in_order(names)
            self._say_stopped(stop, missing)
            code = 130
        finally:
            self._in_order(names)
            if self.wishes.out.is_dir():
                for problem in write_index(self.wishes.out, self.failed):
                    say(problem)
        return code or (1 if self.failed else 0)

    def print_summary(self) -> None:
        """One screen: what came of every study, and where the pages are."""
        claims = {name: found.claims for name, found in self.results.items()}
        for line in summary_lines(claims, self.seconds, console().width):
            console().print(line)
        if not self.quiet:
            say(
                f"the pages start at {self.wishes.out / 'index.html'}; `remanence show STUDY` "
                "prints every claim, `remanence serve` opens the lab"
            )

    def _in_order(self, names: Sequence[str]) -> None:
        self.results = {name: self.results[name] for name in names if name in self.results}

    def _read_back(self, name: str, *, just_made: bool = False) -> bool:
        found = cached_result(name, self.wishes, just_made=just_made)
        if found is not None:
            self.results[name] = found
        return found is not None

    def _missing(self, names: Sequence[str], lines: ProgressLines) -> list[str]:
        """The studies that are not there already."""
        missing = []
        for name in names:
            if not self.wishes.again and self._read_back(name):
                made = "read back, made by the same code; --again makes it anew"
                lines.tell(name, made, done=True)
            else:
                missing.append(name)
        return missing

    def _run_here(self, name: str, lines: ProgressLines) -> None:
        if self._missing([name], lines):
            begun = time.monotonic()
            tell = lambda sentence: lines.tell(name, sentence)
            self.results[name] = run_study(name, self.wishes, tell, tell if lines.live else None)
            self.seconds[name] = time.monotonic() - begun
            lines.tell(name, "done", done=True)

    def _run_in_processes(self, names: Sequence[str], lines: ProgressLines) -> int:
        missing = self._missing(names, lines)
        beside = self.wishes.profile == "quick" and self.wishes.on is None
        workers = min(len(cores()), len(missing) or 1) if beside else 1
        environment = {ENOUGH: "1"} if workers > 1 else {}
        calls = [(name, (run_in_worker, name, self.wishes, lines.live)) for name in missing]
        code = 0
        with WorkerPool(workers, environment=environment, import_script=True) as pool:

            def listen() -> None:
                while not pool.messages.empty():
                    lines.tell(*pool.messages.get())
                check_stop()

            for name, future in pool.as_completed(calls, listen):
                code = max(code, self._take(name, future, lines))
        return code

    def _take(self, name: str, future: concurrent.futures.Future, lines: ProgressLines) -> int:
        """Take what a worker says of a study that has ended; 130 if its time is up."""
        try:
            status, words, trace = future.result()
        except BrokenProcessPool:
            status, words, trace = 1, "its process was killed", ""
        if status == 130:
            self._say_stopped(TimeUp(words), [name])
            return 130
        if status == 0 and (found := stored_result(self.wishes.out / name)) is not None:
            self.results[name], self.seconds[name] = found, float(words)
        else:
            sys.stderr.write(printable(trace, keep="\n"))
            self.failed[name] = words
            say(f"{name} failed: {self.failed[name]}; the other studies go on")
        lines.tell(name, "failed" if status else "done", done=True)
        return 0

    def _say_stopped(self, stop: BaseException, missing: Sequence[str]) -> None:
        """Say what is kept of a run that was stopped, and how to go on."""
        end_stop()
        kept = ", ".join(self.results) or "no study"
        why = str(stop) or ("time is up" if isinstance(stop, TimeUp) else "interrupted")
        if not missing:
            say(f"{why}: finished and saved: {kept}; nothing was left to do")
            return
        parts = self.wishes.out / ".parts" / missing[0]
        count = sum(1 for path in parts.rglob("[!.]*") if path.is_file())
        say(
            f"{why}: finished and saved: {kept}; {missing[0]} keeps {count} "
            f"file{'' if count == 1 else 's'} of finished parts in {parts} and the "
            "same command goes on from there"
        )
