"""Long work as processes of the command line: progress line by line, cancel as Ctrl-C.

A job is `remanence reproduce …` or `remanence checkup …` in a process of its own, so
whatever the command line promises (finished parts kept, results whole or absent)
holds here too. A checkup's weights and page live as long as the server.
"""

import asyncio
import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from typing import Any

from ..report import write_whole


@dataclasses.dataclass
class Job:
    """One run: what was asked, what it said so far, how it ended."""

    id: int
    study: str
    """The study's name, or `checkup`."""
    profile: str
    seed: int
    folder: tempfile.TemporaryDirectory | None = None
    page: str | None = None
    """A checkup's page, once it is there."""
    lines: list[str] = dataclasses.field(default_factory=list)
    state: str = "running"
    """running, done, cancelled or failed."""
    document: dict[str, Any] | None = None
    process: asyncio.subprocess.Process | None = None
    changed: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)

    @property
    def summary(self) -> dict[str, Any]:
        """What the page is told of it."""
        return {
            "id": self.id,
            "study": self.study,
            "profile": self.profile,
            "seed": self.seed,
            "state": self.state,
            "said": self.lines[-1] if self.lines else "",
        }


class Jobs:
    """The jobs of one server; one runs at a time."""

    def __init__(self, out: pathlib.Path, command: list[str] | None = None) -> None:
        self.out = out
        self.command = command or [sys.executable, "-m", "remanence"]
        self.all: dict[int, Job] = {}
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task] = set()

    @property
    def running(self) -> Job | None:
        """The job at work, if there is one."""
        return next((job for job in self.all.values() if job.state == "running"), None)

    async def reproduce(self, study: str, profile: str, seed: int) -> Job:
        """Start a study; refuses while something runs."""
        job = self._entered(Job(next(self._numbers), study, profile, seed))
        words = ["reproduce", study, "--profile", profile, "--seed", str(seed)]
        return await self._started(job, [*words, "--out", str(self.out)])

    async def checkup(self, content: bytes, steps: int, seed: int) -> Job:
        """Start a checkup of a safetensors file; refuses while something runs."""
        if not content:
            raise ValueError("the file is empty")
        folder = tempfile.TemporaryDirectory(prefix="remanence-lab-")
        job = Job(next(self._numbers), "checkup", "quick", seed, folder)
        try:
            self._entered(job)
        except ValueError:
            folder.cleanup()
            raise
        model = pathlib.Path(folder.name) / "model.safetensors"
        model.write_bytes(content)
        words = ["checkup", str(model), "--noise", "--quick", "--steps", str(steps)]
        words += ["--seed", str(seed), "--out", str(model.with_name("page.html"))]
        return await self._started(job, words)

    def _entered(self, job: Job) -> Job:
        if (busy := self.running) is not None:
            raise ValueError(f"{busy.study} is running; cancel it or wait")
        self.all[job.id] = job
        return job

    async def _started(self, job: Job, words: list[str]) -> Job:
        job.process = await asyncio.create_subprocess_exec(
            *self.command,
            *words,
            "--json",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "COLUMNS": "100"},
        )
        task = asyncio.create_task(self._followed(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    async def _followed(self, job: Job) -> None:
        process = job.process
        assert process is not None and process.stdout and process.stderr

        async def heard(stream: asyncio.StreamReader) -> None:
            async for line in stream:
                words = line.decode(errors="replace").rstrip()[:2000]
                # The user's file has no name here but the one that we gave it.
                job.lines.append(words if job.folder is None else _unnamed(words, job))
                job.changed.set()

        written, _ = await asyncio.gather(process.stdout.read(), heard(process.stderr))
        code = await process.wait()
        with contextlib.suppress(ValueError):
            job.document = json.loads(written)
        if code == 0 and job.document is not None:
            self._keep(job)
        if job.folder is not None:
            job.folder.cleanup()
        job.state = {0: "done", 130: "cancelled"}.get(code, "failed")
        job.changed.set()

    def _keep(self, job: Job) -> None:
        """Results of other seeds replace each other; their claims are kept apart."""
        assert job.document is not None
        if job.folder is not None:
            page = pathlib.Path(job.folder.name) / "page.html"
            job.page = page.read_text(encoding="utf-8", errors="replace")
            return
        name = f"{job.study}-{job.profile}-{job.seed}.json"
        for study in job.document.get("studies", ()):
            write_whole(self.out / ".lab" / name, json.dumps(study).encode())

    async def cancel(self, job: Job, patience: float = 10.0) -> None:
        """Ctrl-C for the job; after `patience` seconds, the end."""
        process = job.process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        for _ in range(int(patience / 0.05)):
            if job.state != "running":
                return
            await asyncio.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):
            process.kill()

    async def events(self, job: Job, after: int) -> AsyncIterator[dict[str, Any]]:
        """Everything that the job says from line `after` on, then how it ended."""
        while True:
            ended = job.state != "running"
            while after < len(job.lines):
                yield {"id": after + 1, "line": job.lines[after]}
                after += 1
            if ended:
                answer = job.document if job.folder is not None else None
                yield {"id": after, "state": job.state, "answer": answer}
                return
            job.changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(job.changed.wait(), 1.0)
            yield {"id": after}

    def runs(self, study: str) -> list[dict[str, Any]]:
        """The claims of earlier runs of a study, those that can be read."""
        found = []
        for path in sorted((self.out / ".lab").glob(f"{study}-*.json")):
            with contextlib.suppress(ValueError, OSError):
                document = json.loads(path.read_bytes())
                if isinstance(document, dict) and isinstance(
                    document.get("claims"), list
                ):
                    found.append(document)
        return found

    async def stop(self) -> None:
        """Interrupt what runs and wait until it has said what it saved."""
        if (job := self.running) is not None:
            await self.cancel(job)
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


def _unnamed(words: str, job: Job) -> str:
    assert job.folder is not None
    return words.replace(f"{job.folder.name}/", "")
