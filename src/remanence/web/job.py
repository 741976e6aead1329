"""One run of the command line: what was asked, what it said so far, how it ended."""

import asyncio
import contextlib
import dataclasses
import json
import tempfile
from typing import Any


LONGEST, MOST = 2000, 10_000  # bytes of a line, and lines of a job, that are remembered
LARGEST = 32 * 1024 * 1024  # bytes of a job's document that are read


@dataclasses.dataclass
class Job:
    """One run: what was asked, what it said so far, how it ended."""

    id: int
    study: str  # the study's name, or `checkup`
    profile: str
    seed: int
    folder: tempfile.TemporaryDirectory | None = None
    """An upload and its page, until the job has ended."""
    page: str | None = None  # a checkup's page, once it is there
    lines: list[str] = dataclasses.field(default_factory=list)
    state: str = "running"  # running, done, cancelled or failed
    cancelled: bool = False
    document: dict[str, Any] | None = None
    process: asyncio.subprocess.Process | None = None
    changed: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)

    @property
    def summary(self) -> dict[str, Any]:
        """What the page shows of it."""
        shown = ("id", "study", "profile", "seed", "state")
        said = self.lines[-1] if self.lines else ""
        return {name: getattr(self, name) for name in shown} | {"said": said}

    @property
    def answer(self) -> dict[str, Any] | None:
        """A checkup's figures; a study's are in the results folder."""
        return self.document if self.study == "checkup" else None

    def say(self, line: str) -> None:
        """Remember a line; a file from outside has no name but the one that we gave it."""
        if len(self.lines) < MOST:
            home = "" if self.folder is None else f"{self.folder.name}/"
            self.lines.append(line.replace(home, "") if home else line)
        self.changed.set()


async def listen(job: Job, stream: asyncio.StreamReader) -> None:
    """Have a job say the lines of a stream, each cut at `LONGEST` bytes: no more is ever held."""
    held = b""
    while chunk := await stream.read(65536):
        *whole, held = (held + chunk).split(b"\n")
        for line in whole:
            job.say(line[:LONGEST].decode(errors="replace").rstrip())
        held = held[:LONGEST]
    if held:
        job.say(held.decode(errors="replace").rstrip())


async def document_of(stream: asyncio.StreamReader) -> dict[str, Any] | None:
    """The JSON document that a stream holds, if it is one and not too large."""
    content = b""
    while chunk := await stream.read(65536):
        content += chunk if len(content) <= LARGEST else b""
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(content)
    return None
