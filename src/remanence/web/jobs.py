"""Long work as processes of the command line: progress line by line, cancel as Ctrl-C.

Jobs are known as long as the server runs, and an upload as long as its job.
"""

import asyncio
import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import HTTPException

from ..report import DamagedResult, read_result, write_atomically
from ..subjects import stored_result
from .uploads import Upload


PATIENCE = 10.0  # seconds that a job has to end once it was asked to
LONGEST, MOST = 2000, 10_000  # bytes of a line, and lines of a job, that are remembered
LARGEST = 32 * 1024 * 1024  # bytes of a job's document that are read


@dataclasses.dataclass
class Job:
    """One run: what was asked, what it said so far, how it ended."""

    id: int
    study: str  # the study's name, or `checkup`
    profile: str
    seed: int
    folder: tempfile.TemporaryDirectory | None = None  # of an upload, until the job has ended
    page: str | None = None  # a checkup's page, once it is there
    lines: list[str] = dataclasses.field(default_factory=list)
    state: str = "running"  # running, done, cancelled or failed
    cancelled: bool = False
    document: dict[str, Any] | None = None
    process: asyncio.subprocess.Process | None = None
    task: asyncio.Task | None = None
    changed: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)

    @property
    def summary(self) -> dict[str, Any]:
        """What the page shows of it."""
        shown = ("id", "study", "profile", "seed", "state")
        said = self.lines[-1] if self.lines else ""
        return {name: getattr(self, name) for name in shown} | {"said": said}

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


class Jobs:
    """The jobs of one results folder; one runs at a time."""

    def __init__(self, out: pathlib.Path, command: list[str] | None, closing: Callable[[], bool]):
        self.out, self.closing = out, closing
        self.command = command or [sys.executable, "-m", "remanence"]
        self.all: dict[int, Job] = {}

    def refuse_second(self) -> None:
        """Refuse while something runs."""
        for job in self.all.values():
            if job.state == "running":
                raise HTTPException(409, f"{job.study} is running; cancel it or wait")

    async def reproduce(self, study: str, profile: str, seed: int) -> Job:
        """Start a study; refuses while something runs."""
        job = self._new(study, profile, seed)
        self._save_claims(study)
        words = ["reproduce", study, "--profile", profile]
        return await self._start(job, words, self.out)

    async def checkup(self, upload: Upload, source: list[str], *, steps: int, seed: int) -> Job:
        """Start a checkup of an uploaded model, whose folder goes with the job, as `reproduce`."""
        job = self._new("checkup", "quick", seed)
        job.folder = upload.folder
        words = ["checkup", str(upload.model), *source, "--quick"]
        if "--inputs" not in source:  # a file is taken whole
            words += ["--steps", str(steps)]
        return await self._start(job, words, pathlib.Path(upload.folder.name) / "page.html")

    def _new(self, study: str, profile: str, seed: int) -> Job:
        self.refuse_second()
        job = Job(max(self.all, default=0) + 1, study, profile, seed)
        self.all[job.id] = job
        return job

    async def _start(self, job: Job, words: list[str], out: pathlib.Path) -> Job:
        streams = dict.fromkeys(("stdout", "stderr"), asyncio.subprocess.PIPE)
        streams |= {"stdin": asyncio.subprocess.DEVNULL}
        words = [*self.command, *words, "--seed", str(job.seed), "--out", str(out), "--json"]
        surroundings = {"env": {**os.environ, "COLUMNS": "100"}, "start_new_session": True}
        try:
            job.process = await asyncio.create_subprocess_exec(*words, **streams, **surroundings)
        except OSError as problem:
            job.say(f"it could not start: {problem.strerror}")
            self._end(job, "failed")
            return job
        job.task = asyncio.create_task(self._follow(job, job.process))
        return job

    async def _follow(self, job: Job, process: asyncio.subprocess.Process) -> None:
        """Listen to a job until its process ends, then say how."""
        assert process.stdout and process.stderr
        document = asyncio.create_task(document_of(process.stdout))
        listening = asyncio.create_task(listen(job, process.stderr))
        # `process.wait()` would wait for all that hold its pipes, also those it left behind.
        while process.returncode is None:
            await asyncio.sleep(0.05)
        _kill_group(process)
        await asyncio.wait({document, listening}, timeout=PATIENCE)
        job.document = document.result() if document.done() else None
        code, state = process.returncode, "failed"
        # Interrupted before the command had begun, it ends by the signal itself.
        if code == 130 or (job.cancelled and code != 0):
            state = "cancelled"
        elif code == 0 and (job.document is None or self._keep(job)):
            state = "done"
        document.cancel()
        listening.cancel()
        self._end(job, state)

    def _end(self, job: Job, state: str) -> None:
        if job.folder is not None:
            job.folder.cleanup()
        job.state = state
        job.changed.set()

    def _keep(self, job: Job) -> bool:
        """Take a checkup's page, or a study's claims, which the next run's would replace."""
        try:
            if job.folder is None:
                self._save_claims(job.study)
            else:
                page = pathlib.Path(job.folder.name) / "page.html"
                job.page = page.read_text(encoding="utf-8", errors="replace")
        except OSError as problem:
            job.say(f"its page cannot be read: {problem.strerror}")
            return False
        return True

    def _save_claims(self, study: str) -> None:
        """Keep the claims of what is stored, whoever made it, before it is replaced."""
        with contextlib.suppress(OSError, DamagedResult):  # the result itself is still there
            if (last := read_result(self.out / study)) is not None:
                path = self.out / ".lab" / f"{study}-{last.profile}-{last.seed}.json"
                write_atomically(path, json.dumps(dict(last.document)).encode())

    async def cancel(self, job: Job) -> None:
        """Ctrl-C for the job; after `PATIENCE` seconds, the end of it and all it started."""
        process = job.process
        if process is None or process.returncode is not None:
            return
        job.cancelled = True
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        for _ in range(int(PATIENCE / 0.05)):
            if job.state != "running":
                return
            await asyncio.sleep(0.05)
        _kill_group(process)

    async def events(self, job: Job, after: int) -> AsyncIterator[dict[str, Any]]:
        """Everything that the job says from line `after` on, then how it ended."""
        while True:
            ended = job.state != "running"
            while after < len(job.lines):
                after += 1
                yield {"id": after, "line": job.lines[after - 1]}
            if ended:
                # A study's figures are in the results folder.
                answer = job.document if job.study == "checkup" else None
                yield {"id": after, "state": job.state, "answer": answer}
                return
            # A server waits for its streams before it ends its jobs; the page asks again.
            if self.closing():
                return
            job.changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(job.changed.wait(), 1.0)
            yield {"id": after}

    def runs(self, study: str) -> list[dict[str, Any]]:
        """The claims of earlier runs of a study, also of the command line's last one."""
        found = {}
        for path in sorted((self.out / ".lab").glob(f"{study}-*.json")):
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
                document = json.loads(path.read_bytes() if path.is_file() else b"")
                if isinstance(document["claims"], list):
                    found[document["profile"], document["seed"]] = document
        with contextlib.suppress(DamagedResult):
            if (last := stored_result(self.out / study)) is not None:
                found[last.profile, last.seed] = dict(last.document)
        return list(found.values())

    async def stop(self) -> None:
        """Interrupt what runs and wait until it has said what it saved."""
        for job in self.all.values():
            await self.cancel(job)
        tasks = [job.task for job in self.all.values() if job.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)


def _kill_group(process: asyncio.subprocess.Process) -> None:
    """End a job's process and those that it started: they are a group of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
