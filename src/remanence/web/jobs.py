"""Long work as processes of the command line: progress line by line, cancel as Ctrl-C.

A job is `remanence reproduce …` or `remanence checkup …` in a process of its own, so
whatever the command line promises (finished parts kept, results whole or absent) holds
here too. Jobs are known as long as the server runs, and an upload as long as its job.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import signal
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import HTTPException

from ..report import DamagedResult, read_result, write_atomically
from ..subjects import stored_result
from .job import document_of, Job, listen
from .uploads import Upload


PATIENCE = 10.0  # seconds that a job has to end once it was asked to


class Jobs:
    """The jobs of one results folder; one runs at a time."""

    def __init__(
        self,
        out: pathlib.Path,
        command: list[str] | None = None,
        closing: Callable[[], bool] = lambda: False,
    ) -> None:
        self.out, self.closing = out, closing
        self.command = command or [sys.executable, "-m", "remanence"]
        self.all: dict[int, Job] = {}
        self._tasks: set[asyncio.Task] = set()

    def refuse_second(self) -> None:
        """Refuse while something runs."""
        for job in self.all.values():
            if job.state == "running":
                raise HTTPException(409, f"{job.study} is running; cancel it or wait")

    async def reproduce(self, study: str, profile: str, seed: int) -> Job:
        """Start a study; refuses while something runs."""
        job = self._new(study, profile, seed)
        self._save_claims(study)
        words = ["reproduce", study, "--profile", profile, "--seed", str(seed)]
        return await self._start(job, [*words, "--out", str(self.out)])

    async def checkup(self, upload: Upload, source: list[str], *, steps: int, seed: int) -> Job:
        """Start a checkup of an uploaded model; refuses while something runs.

        `source` is the option for its inputs. The folder goes with the job.
        """
        job = self._new("checkup", "quick", seed)
        job.folder, home = upload.folder, pathlib.Path(upload.folder.name)
        words = ["checkup", str(upload.model), *source, "--quick"]
        if "--inputs" not in source:  # a file is taken whole
            words += ["--steps", str(steps)]
        return await self._start(
            job, [*words, "--seed", str(seed), "--out", str(home / "page.html")]
        )

    def _new(self, study: str, profile: str, seed: int) -> Job:
        self.refuse_second()
        job = Job(max(self.all, default=0) + 1, study, profile, seed)
        self.all[job.id] = job
        return job

    async def _start(self, job: Job, words: list[str]) -> Job:
        pipe = asyncio.subprocess.PIPE
        try:
            job.process = await asyncio.create_subprocess_exec(
                *(*self.command, *words, "--json"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
                env={**os.environ, "COLUMNS": "100"},
            )
        except OSError as problem:
            job.say(f"it could not start: {problem.strerror}")
            self._end(job, "failed")
            return job
        task = asyncio.create_task(self._follow(job, job.process))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    async def _follow(self, job: Job, process: asyncio.subprocess.Process) -> None:
        """Listen to a job until its process ends, then say how; nothing keeps it running."""
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
        if job.folder is None:
            self._save_claims(job.study)
            return True
        try:
            page = pathlib.Path(job.folder.name) / "page.html"
            job.page = page.read_text(encoding="utf-8", errors="replace")
        except OSError as problem:
            job.say(f"its page cannot be read: {problem.strerror}")
        return job.page is not None

    def _save_claims(self, study: str) -> None:
        """Keep the claims of what is stored, whoever made it, before it is replaced."""
        with contextlib.suppress(OSError, DamagedResult):  # the result itself is still there
            if (last := read_result(self.out / study)) is not None:
                name = f"{study}-{last.profile}-{last.seed}.json"
                content = json.dumps(dict(last.document)).encode()
                write_atomically(self.out / ".lab" / name, content)

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
        """Everything that the job says from line `after` on, then how it ended.

        A server that is closing ends it before; the page asks again once it is back.
        """
        while True:
            ended = job.state != "running"
            while after < len(job.lines):
                after += 1
                yield {"id": after, "line": job.lines[after - 1]}
            if ended:
                yield {"id": after, "state": job.state, "answer": job.answer}
                return
            # A server waits for its streams before it ends its jobs.
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
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


def _kill_group(process: asyncio.subprocess.Process) -> None:
    """End a job's process and those that it started: they are a group of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
