"""One call of `reproduce`: several studies, none lost because another failed.

One runs in this process; several in workers, quick ones as many at a time as there are cores.
"""

import concurrent.futures
import dataclasses
import pathlib
import sys
import time
import traceback
from collections.abc import Callable, Sequence

from .._cores import cores, ENOUGH
from .._escape import printable
from .._prepare_jax import prepare_jax
from .._stop import check_stop, end_stop, stop_on_signals, TimeUp
from ..report import DamagedResult, fingerprint, Record, StoredResult
from ..subjects import configured, parts_folder, reproduce, stored_result, study, write_index
from ..sweeps import Unfinished
from ..sweeps.pool import as_completed, BrokenProcessPool, send_message, WorkerPool
from ..train.progress import progress_listener
from .app import is_refusal, say
from .progress import ProgressLines
from .table import console, summary_lines


STOPPED = (KeyboardInterrupt, TimeUp, Unfinished)
Tell = Callable[[str], None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the user asked for."""

    profile: str
    out: pathlib.Path
    seed: int
    again: bool = False
    deadline: float | None = None
    on: str | None = None

    def time_left(self) -> float | None:
        """Seconds until the time is up, if it ever is."""
        if self.deadline is None:
            return None
        if (left := self.deadline - time.monotonic()) <= 0:
            raise TimeUp
        return left


def run_study(name: str, wishes: Wishes, tell: Tell, progress: Tell | None) -> Record:
    """Run one study; `progress` gets every step, `tell` every stage."""
    parts = parts_folder(wishes.out, study(name), wishes.profile, wishes.seed)
    left = " (going on where it was stopped)" if parts.exists() and not wishes.again else ""
    tell(f"{wishes.profile} profile, {study(name).cost.get(wishes.profile, 'unknown')}{left}")
    stage, shown = "", 0.0

    def stages(sentence: str) -> None:
        nonlocal stage
        check_stop()
        stage = sentence
        tell(sentence)

    def steps(title: str, done: int, total: int, unit: str) -> None:
        nonlocal shown
        if progress is not None and time.monotonic() - shown > 0.2:
            shown = time.monotonic()
            progress(f"{stage or title}: {done} of {total} {unit}")

    asked = {key: getattr(wishes, key) for key in ("profile", "seed", "out", "on", "again")}
    with progress_listener(steps):
        return reproduce(name, **asked, time_limit=wishes.time_left(), quiet=False, tell=stages)


def run_in_worker(name: str, wishes: Wishes, live: bool) -> tuple[int, str, str]:
    """One study in a worker: its exit code, its seconds or why it failed, and a bug's traceback."""
    prepare_jax(one_thread=wishes.profile == "quick")
    begun = time.monotonic()
    tell = lambda sentence: send_message((name, sentence))
    try:
        with stop_on_signals(wishes.time_left()):
            run_study(name, wishes, tell, tell if live else None)
    except STOPPED as stop:
        return 130, str(stop), ""
    except Exception as error:
        if is_refusal(error):
            return 2, str(error), ""
        return 1, f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error))
    finally:
        # Studies share next to no compiled programs; the next one gets the memory.
        if (jax := sys.modules.get("jax")) is not None:
            jax.clear_caches()
    return 0, f"{time.monotonic() - begun:.3f}", ""


class Session:
    """What came of the studies that were asked for."""

    def __init__(self, wishes: Wishes, *, quiet: bool):
        self.wishes, self.quiet = wishes, quiet
        self.results: dict[str, Record | StoredResult] = {}
        self.failed: dict[str, str] = {}
        self.seconds: dict[str, float] = {}

    def run(self, names: Sequence[str]) -> int:
        """Run the studies; the exit code of the whole."""
        code = 0
        try:
            with ProgressLines(quiet=self.quiet) as lines:
                missing = self._missing(names, lines)
                if missing and len(names) == 1:
                    self._run_here(names[0], lines)
                elif missing:
                    code = self._run_in_processes(missing, lines)
        except STOPPED as stop:
            missing = [n for n in names if n not in self.results and n not in self.failed]
            if not self.wishes.again:  # one that was leaving has left its result whole
                missing = [n for n in missing if not self._read_back(n, just_made=True)]
            self._say_stopped(stop, missing)
            code = 130
        finally:
            self.results = {name: self.results[name] for name in names if name in self.results}
            problems = write_index(self.wishes.out, self.failed) if self.wishes.out.is_dir() else ()
            for problem in problems:
                say(problem)
        return code or int(bool(self.failed))

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

    def _read_back(self, name: str, *, just_made: bool = False) -> bool:
        """Take what a run of the same code, configuration and seed left; a damaged one is named."""
        try:
            found = stored_result(self.wishes.out / name)
        except DamagedResult as problem:
            say(f"{problem}; {name} is computed again")
            return False
        mark = fingerprint(name, configured(study(name), self.wishes.profile), self.wishes.seed)
        if found is None or found.provenance.get("fingerprint") != mark:
            return False
        # The same code gave another verdict: the file is not what the run wrote.
        if found.notes:
            say(f"{found.notes[0]}; {name} is computed again")
            return False
        # An earlier run under a time limit may have left things out.
        if found.provenance.get("time_limit") is not None and not just_made:
            return False
        self.results[name] = found
        return True

    def _missing(self, names: Sequence[str], lines: ProgressLines) -> list[str]:
        """The studies that are not there already."""
        again = self.wishes.again
        missing = [name for name in names if again or not self._read_back(name)]
        for name in self.results:
            lines.tell(name, "read back, made by the same code; --again makes it anew", done=True)
        return missing

    def _run_here(self, name: str, lines: ProgressLines) -> None:
        begun = time.monotonic()
        tell = lambda sentence: lines.tell(name, sentence)
        self.results[name] = run_study(name, self.wishes, tell, tell if lines.live else None)
        self.seconds[name] = time.monotonic() - begun
        lines.tell(name, "done", done=True)

    def _run_in_processes(self, missing: Sequence[str], lines: ProgressLines) -> int:
        beside = self.wishes.profile == "quick" and self.wishes.on is None
        workers = min(len(cores()), len(missing)) if beside else 1
        environment = {ENOUGH: "1"} if workers > 1 else {}
        calls = [(name, (run_in_worker, name, self.wishes, lines.live)) for name in missing]
        code = 0
        with WorkerPool(workers, environment=environment, import_script=True) as pool:

            def listen() -> None:
                while not pool.messages.empty():
                    lines.tell(*pool.messages.get())
                check_stop()

            for name, future in as_completed(calls, pool.submit, workers, listen):
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
            say(f"{name} failed: {words}; the other studies go on")
        lines.tell(name, "failed" if status else "done", done=True)
        return 0

    def _say_stopped(self, stop: BaseException, missing: Sequence[str]) -> None:
        """Say what is kept of a run that was stopped, and how to go on."""
        end_stop()
        kept = ", ".join(self.results) or "no study"
        why = str(stop) or ("time is up" if isinstance(stop, TimeUp) else "interrupted")
        rest = "nothing was left to do"
        if missing:
            parts = self.wishes.out / ".parts" / missing[0]
            count = sum(1 for path in parts.rglob("[!.]*") if path.is_file())
            files = f"{count} file{'' if count == 1 else 's'} of finished parts in {parts}"
            rest = f"{missing[0]} keeps {files} and the same command goes on from there"
        say(f"{why}: finished and saved: {kept}; {rest}")
