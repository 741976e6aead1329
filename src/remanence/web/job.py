"""One run: what was asked, what it said so far, how it ended; and its file on disk.

A job that ended is written to `.lab/jobs` in the results folder, so that a restarted
server still knows it. A checkup is written only if that was asked for.
"""

import asyncio
import dataclasses
import json
import pathlib
import tempfile
from typing import Any

from ..report import write_atomically


LARGEST = 32 * 1024 * 1024
"""Bytes of a job's file that are read back."""
SHOWN = ("id", "study", "profile", "seed", "state")
WRITTEN = (*SHOWN, "lines", "document", "page")
STATES = ("running", "done", "cancelled", "failed")
CUT_OFF = "the server ended while this ran; the same study goes on from its parts"


@dataclasses.dataclass
class Job:
    """One run: what was asked, what it said so far, how it ended."""

    id: int
    study: str
    """The study's name, or `checkup`."""
    profile: str
    seed: int
    folder: tempfile.TemporaryDirectory | None = None
    keep: bool = True
    """Whether it is written to the results folder."""
    page: str | None = None
    """A checkup's page, once it is there."""
    lines: list[str] = dataclasses.field(default_factory=list)
    state: str = "running"
    """running, done, cancelled or failed."""
    ending: bool = False
    """Whether it was asked to end."""
    document: dict[str, Any] | None = None
    process: asyncio.subprocess.Process | None = None
    changed: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)

    @property
    def summary(self) -> dict[str, Any]:
        """What the page is told of it."""
        said = self.lines[-1] if self.lines else ""
        return {name: getattr(self, name) for name in SHOWN} | {"said": said}

    @property
    def answer(self) -> dict[str, Any] | None:
        """A checkup's figures; a study's are in the results folder."""
        return self.document if self.study == "checkup" else None


def write_job(job: Job, home: pathlib.Path) -> None:
    """Write a job's file, whole or not at all."""
    content = {name: getattr(job, name) for name in WRITTEN} | {"document": job.answer}
    write_atomically(home / f"{job.id}.json", json.dumps(content).encode())


def earlier_jobs(home: pathlib.Path) -> dict[int, Job]:
    """The jobs of earlier servers, by number; files that are none are passed over."""
    found = {}
    for path in home.glob("*.json") if home.is_dir() else ():
        job = _read(path)
        if job is not None and path.name == f"{job.id}.json":
            found[job.id] = job
    return dict(sorted(found.items()))


def _read(path: pathlib.Path) -> Job | None:
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST:
            return None
        content = json.loads(path.read_bytes())
        job = Job(**{name: content[name] for name in WRITTEN})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    whole = (
        type(job.id) is int
        and 1 <= job.id < 2**31
        and type(job.seed) is int
        and all(isinstance(word, str) for word in (job.study, job.profile))
        and isinstance(job.lines, list)
        and all(isinstance(line, str) for line in job.lines)
        and job.state in STATES
        and isinstance(job.document, dict | None)
        and isinstance(job.page, str | None)
    )
    if whole and job.state == "running":
        job.state, job.lines = "cancelled", [*job.lines, CUT_OFF]
    return job if whole else None
