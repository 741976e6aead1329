"""One call of `reproduce`: studies in order, none lost because another failed."""

import dataclasses
import json
import pathlib
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from ..report import (
    Bench,
    Damaged,
    fingerprint,
    json_bytes,
    Stored,
    stored,
    write_front_page,
)
from ..studies import configured, parts_folder, reproduce, STUDIES, study as study_of
from ..sweeps import Unfinished
from .app import ours, say
from .reproduce import TimeUp
from .table import claims_table, console


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
    done: dict[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    failed: dict[str, str] = dataclasses.field(default_factory=dict)

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
        if not self.quiet:
            say(sentence)

    def run(self, names: Sequence[str], *, tables: bool) -> int:
        """Run the studies in order; the exit code of the whole."""
        for position, name in enumerate(names):
            try:
                self._one(name, tables=tables)
            except (KeyboardInterrupt, TimeUp, Unfinished) as stop:
                self._stopped(stop, names[position:])
                self._front()
                return 130
            except Exception as error:
                if len(names) == 1:
                    self._front()
                    raise
                refusal = isinstance(error, ValueError) and ours(error)
                self.failed[name] = (
                    f"{'' if refusal else type(error).__name__ + ': '}{error}"
                )
                if not refusal:
                    traceback.print_exception(error, file=sys.stderr)
                say(f"{name} failed: {self.failed[name]}; the other studies go on")
            _forget_programs()
        self._front()
        self.tell(f"the pages start at {self.out / 'index.html'}")
        return 1 if self.failed else 0

    def _one(self, name: str, *, tables: bool) -> None:
        chosen = study_of(name)
        config = configured(chosen, self.profile)
        parts = parts_folder(self.out, chosen, self.profile, self.seed)
        finished = None if self.again else self._finished(name, config)
        if self.again and parts.exists():
            shutil.rmtree(parts)
        if finished is not None:
            self.tell(
                f"{name}: read back, made by the same code; --again makes it anew"
            )
            self.done[name], claims = finished.document, finished.claims
        else:
            cost = chosen.cost.get(self.profile, "unknown")
            going_on = " (going on where it was stopped)" if parts.exists() else ""
            self.tell(f"{name}, {self.profile} profile: {cost}{going_on}")
            begun = time.monotonic()
            record = reproduce(
                name,
                self.profile,
                seed=self.seed,
                out=self.out,
                tell=lambda s: self.tell(f"  {time.monotonic() - begun:.0f} s: {s}"),
                quiet=self.quiet,
                time_limit=self._left(),
                on=self.on,
            )
            self.tell(f"{name} took {time.monotonic() - begun:.0f} s")
            self.done[name], claims = record.document, record.claims
        if tables:
            heading = (
                f"{chosen.document} · {chosen.title} ({self.profile}, seed {self.seed})"
            )
            console().print(claims_table(heading, claims))
            console().print()

    def _left(self) -> float | None:
        if self.deadline is None:
            return None
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeUp
        return left

    def _finished(self, name: str, config: Any) -> Stored | None:
        """A result that may stand for this run; a damaged one is named and dropped."""
        try:
            found = stored(self.out / name)
        except Damaged as problem:
            say(f"{problem}; {name} is computed again")
            return None
        # A run under a time limit may have left things out.
        same = (
            found is not None
            and found.provenance.get("time_limit") is None
            and found.provenance.get("fingerprint")
            == fingerprint(name, config, self.seed)
        )
        return found if same else None

    def _front(self) -> None:
        if self.out.is_dir():
            for problem in write_front_page(self.out, list(STUDIES), self.failed):
                say(f"{problem}; it is not shown")

    def _stopped(self, stop: BaseException, missing: Sequence[str]) -> None:
        kept = ", ".join(self.done) or "no study"
        parts = self.out / ".parts" / missing[0]
        count = sum(1 for path in parts.rglob("[!.]*") if path.is_file())
        why = "time is up" if isinstance(stop, TimeUp) else str(stop) or "interrupted"
        why = str(stop) if isinstance(stop, Unfinished) else why
        say(
            f"{why}: finished and saved: {kept}; {missing[0]} keeps {count} "
            f"file{'' if count == 1 else 's'} of finished parts in {parts} and the "
            "same command goes on from there"
        )

    def cell(self, name: str, named: Mapping[str, str]) -> Any:
        """One cell of a published table, done again."""
        chosen = study_of(name)
        if chosen.cell is None:
            raise ValueError(f"{name} has no published table whose cells can be redone")
        with tempfile.TemporaryDirectory(prefix="remanence-") as folder:
            bench = Bench(
                folder=pathlib.Path(folder),
                seed=self.seed,
                profile=self.profile,
                tell=self.tell,
                quiet=self.quiet,
                time_limit=self._left(),
                on=self.on,
            )
            return json.loads(json_bytes(chosen.cell(named, bench)))
