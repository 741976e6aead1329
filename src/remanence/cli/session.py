"""One call of `reproduce`: several studies, none lost because another failed."""

import dataclasses
import json
import pathlib
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._cores import cores
from .._escape import printable
from .._stop import check_stop, request_stop
from ..report import json_bytes, JudgedClaim
from ..subjects import parts_folder, reproduce, STUDIES, study as study_of, write_index
from ..sweeps import Unfinished
from .app import ours, say
from .reproduce import TimeUp
from .standing import standing
from .study_processes import run_in_processes
from .table import console, summary_lines


READ_BACK = "read back, made by the same code; --again makes it anew"


def _forget_programs() -> None:
    """Studies share next to no compiled programs; the next one gets the memory."""
    if (jax := sys.modules.get("jax")) is not None:
        jax.clear_caches()


@dataclasses.dataclass
class Session:
    """What the user asked for, and what came of it so far."""

    profile: str
    out: pathlib.Path
    seed: int
    quiet: bool
    again: bool
    deadline: float | None
    on: str | None
    say: Callable[[str], None] = say
    """Where sentences go."""
    done: dict[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    claims: dict[str, Sequence[JudgedClaim]] = dataclasses.field(default_factory=dict)
    failed: dict[str, str] = dataclasses.field(default_factory=dict)
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def document(self) -> dict[str, Any]:
        """Everything that came of it, for `--json`."""
        studies = [json.loads(json_bytes(document)) for document in self.done.values()]
        return {"studies": studies, "failed": self.failed}

    def names(self, wanted: str) -> list[str]:
        """The studies that a word stands for."""
        if wanted == "all":
            return list(STUDIES)
        if wanted not in STUDIES:
            raise ValueError(
                f"no study is called {wanted!r}; there are {', '.join(STUDIES)}, and all"
            )
        return [wanted]

    def tell(self, sentence: str) -> None:
        """Progress, unless it is unwanted."""
        check_stop()
        if not self.quiet:
            self.say(sentence)

    def run(self, names: Sequence[str], *, summary: bool) -> int:
        """Run the studies; the exit code of the whole.

        Quick studies run side by side, one core each; full ones one after another,
        each on all cores; on a cluster, too, since the work is done there.
        """
        if self.profile == "quick" and self.on is None and min(len(names), len(cores())) > 1:
            code = self._side_by_side(names)
        else:
            code = self._in_turn(names)
        self._front()
        if summary:
            seconds = {name: self.seconds.get(name) for name in names if name in self.claims}
            found = {name: self.claims[name] for name in seconds}
            for line in summary_lines(found, seconds):
                console().print(line)
        if code != 130:
            self.tell(
                f"the pages start at {self.out / 'index.html'}; `remanence show STUDY` "
                "prints every claim, `remanence serve` opens the lab"
            )
        return code

    def _in_turn(self, names: Sequence[str]) -> int:
        for position, name in enumerate(names):
            try:
                self.run_one(name)
            except (KeyboardInterrupt, TimeUp, Unfinished) as stop:
                self.tell_stopped(stop, names[position:])
                return 130
            except Exception as error:
                if len(names) == 1:
                    self._front()
                    raise
                refusal = isinstance(error, ValueError) and ours(error)
                self.failed[name] = f"{'' if refusal else type(error).__name__ + ': '}{error}"
                if not refusal:
                    lines = "".join(traceback.format_exception(error))
                    sys.stderr.write(printable(lines, keep="\n"))
                say(f"{name} failed: {self.failed[name]}; the other studies go on")
            _forget_programs()
        return 1 if self.failed else 0

    def _side_by_side(self, names: Sequence[str]) -> int:
        missing = []
        for name in names:
            if not self.again and self._read_back(name):
                self.tell(f"{name}: {READ_BACK}")
            else:
                missing.append(name)
        ended: list[str] = []
        code = 0
        try:
            for name, status, words in run_in_processes(
                missing,
                self._wishes,
                tell=self.say,
                workers=min(len(cores()), max(1, len(missing))),
            ):
                ended.append(name)
                if status == 0:
                    self._read_back(name, just_made=True)
                    self.seconds[name] = float(words)
                elif status == 130:  # its time is up; it has said what it keeps
                    code = 130
                else:
                    self.failed[name] = words
                    self.say(f"{name} failed: {self.failed[name]}; the other studies go on")
        except (KeyboardInterrupt, TimeUp) as stop:
            # One that was leaving when it was stopped has left its result whole.
            left = [name for name in missing if name not in ended]
            if not self.again:
                left = [n for n in left if not self._read_back(n, just_made=True)]
            self._in_order(names)
            self.tell_stopped(stop, left)
            code = 130
        self._in_order(names)
        return code or (1 if self.failed else 0)

    def _in_order(self, names: Sequence[str]) -> None:
        self.done = {name: self.done[name] for name in names if name in self.done}

    def _wishes(self) -> dict[str, Any]:
        """The same wishes, for a study in a process of its own."""
        names = ("profile", "seed", "quiet", "again", "deadline", "on")
        return {"out": str(self.out)} | {name: getattr(self, name) for name in names}

    def run_one(self, name: str) -> None:
        """Run one study, or read it back if it is there already."""
        chosen = study_of(name)
        parts = parts_folder(self.out, chosen, self.profile, self.seed)
        if not self.again and self._read_back(name):
            self.tell(f"{name}: {READ_BACK}")
            return
        cost = chosen.cost.get(self.profile, "unknown")
        left = parts.exists() and not self.again
        going_on = " (going on where it was stopped)" if left else ""
        self.tell(f"{name}, {self.profile} profile: {cost}{going_on}")
        begun = time.monotonic()
        record = reproduce(
            name,
            self.profile,
            seed=self.seed,
            out=self.out,
            tell=lambda s: self.tell(f"  {time.monotonic() - begun:.0f} s: {s}"),
            quiet=self.quiet,
            time_limit=self.left(),
            on=self.on,
            again=self.again,
        )
        self.seconds[name] = time.monotonic() - begun
        self.tell(f"{name} took {self.seconds[name]:.0f} s")
        self.done[name] = record.document
        self.claims[name] = record.claims

    def left(self) -> float | None:
        """Seconds until the time is up, if it ever is."""
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeUp
        return left

    def _read_back(self, name: str, *, just_made: bool = False) -> bool:
        found = standing(self.out / name, name, self.profile, self.seed, just_made=just_made)
        if found is None:
            return False
        self.done[name], self.claims[name] = found.document, found.claims
        return True

    def _front(self) -> None:
        if self.out.is_dir():
            for problem in write_index(self.out, self.failed):
                say(problem)

    def tell_stopped(self, stop: BaseException, missing: Sequence[str]) -> None:
        """Say what is kept of a run that was stopped, and how to go on."""
        request_stop(None)
        signal.setitimer(signal.ITIMER_REAL, 0.0)  # it is heard: none is thrown after it
        kept = ", ".join(self.done) or "no study"
        why = "time is up" if isinstance(stop, TimeUp) else str(stop) or "interrupted"
        why = str(stop) if isinstance(stop, Unfinished) else why
        if not missing:
            self.say(f"{why}: finished and saved: {kept}; nothing was left to do")
            return
        parts = self.out / ".parts" / missing[0]
        count = sum(1 for path in parts.rglob("[!.]*") if path.is_file())
        self.say(
            f"{why}: finished and saved: {kept}; {missing[0]} keeps {count} "
            f"file{'' if count == 1 else 's'} of finished parts in {parts} and the "
            "same command goes on from there"
        )
