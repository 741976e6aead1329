"""Long work as processes of the command line: progress line by line, cancel as Ctrl-C.

A job is `remanence reproduce …` or `remanence checkup …` in a process of its own, so
whatever the command line promises (finished parts kept, results whole or absent)
holds here too. A checkup's weights live until it ends, its page as long as the server
unless it is asked to be kept.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from typing import Any

from ..report import DamagedResult, read_result, write_atomically
from ..subjects import stored_result
from .job import earlier_jobs, Job, write_job


UNREADABLE = (OSError, ValueError, TypeError, KeyError, RecursionError)


class Jobs:
    """The jobs of one results folder; one runs at a time."""

    def __init__(
        self,
        out: pathlib.Path,
        command: list[str] | None = None,
        closing: Callable[[], bool] = lambda: False,
    ) -> None:
        self.out, self.closing = out, closing
        self.home = out / ".lab" / "jobs"
        self.command = command or [sys.executable, "-m", "remanence"]
        self.all = earlier_jobs(self.home)
        self._tasks: set[asyncio.Task] = set()

    @property
    def running(self) -> Job | None:
        """The job at work, if there is one."""
        return next((job for job in self.all.values() if job.state == "running"), None)

    async def reproduce(self, study: str, profile: str, seed: int) -> Job:
        """Start a study; refuses while something runs."""
        job = self._entered(study, profile, seed)
        self._set_apart(study)
        words = ["reproduce", study, "--profile", profile, "--seed", str(seed)]
        return await self._started(job, [*words, "--out", str(self.out)])

    async def checkup(
        self,
        weights: bytes,
        heard: bytes = b"",
        *,
        hear: str = "noise",
        steps: int = 500,
        seed: int = 0,
        keep: bool = False,
    ) -> Job:
        """Start a checkup of a safetensors file; refuses while something runs.

        It hears noise, or what the bytes `heard` hold: a text, or an array (npy).
        """
        job = self._entered("checkup", "quick", seed, keep=keep)
        try:
            job.folder = tempfile.TemporaryDirectory(prefix="remanence-lab-")
            home = pathlib.Path(job.folder.name)
            (home / "model.safetensors").write_bytes(weights)
            inputs = home / ("inputs.txt" if hear == "text" else "inputs.npy")
            inputs.write_bytes(heard)
        except OSError as problem:
            return self._unstarted(job, problem)
        source = {
            "noise": ["--noise"],
            "text": ["--text", str(inputs)],
            "npy": ["--inputs", str(inputs)],
        }
        words = ["checkup", str(home / "model.safetensors"), *source[hear], "--quick"]
        words += ["--seed", str(seed)]
        if hear != "npy":  # a file is taken whole
            words += ["--steps", str(steps)]
        return await self._started(job, [*words, "--out", str(home / "page.html")])

    def _entered(self, study: str, profile: str, seed: int, keep: bool = True) -> Job:
        if (busy := self.running) is not None:
            raise ValueError(f"{busy.study} is running; cancel it or wait")
        job = Job(max(self.all, default=0) + 1, study, profile, seed, keep=keep)
        self.all[job.id] = job
        return job

    async def _started(self, job: Job, words: list[str]) -> Job:
        self._write(job)
        try:
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
        except OSError as problem:
            return self._unstarted(job, problem)
        task = asyncio.create_task(self._followed(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def _unstarted(self, job: Job, problem: OSError) -> Job:
        job.state, job.lines = "failed", [f"it could not start: {problem.strerror}"]
        if job.folder is not None:
            job.folder.cleanup()
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
        done = code == 0 and (job.document is None or self._keep(job))
        if job.folder is not None:
            job.folder.cleanup()
        # Interrupted before the command had begun, it ends by the signal itself.
        cancelled = code == 130 or (job.ending and code != 0)
        job.state = "done" if done else "cancelled" if cancelled else "failed"
        self._write(job)
        job.changed.set()

    def _write(self, job: Job) -> None:
        if not job.keep:
            return
        try:
            write_job(job, self.home)
        except OSError as problem:
            job.lines.append(f"this job is not kept: {problem.strerror}")

    def _keep(self, job: Job) -> bool:
        """Results of other seeds replace each other; their claims are kept apart."""
        assert job.document is not None
        if job.folder is not None:
            page = pathlib.Path(job.folder.name) / "page.html"
            try:
                job.page = page.read_text(encoding="utf-8", errors="replace")
            except OSError as problem:
                job.lines.append(f"its page cannot be read: {problem.strerror}")
            return job.page is not None
        self._set_apart(job.study)
        return True

    def _set_apart(self, study: str) -> None:
        """Keep the claims of what is stored, whoever made it, before it is replaced."""
        with contextlib.suppress(OSError, DamagedResult):  # the result itself is still there
            if (last := read_result(self.out / study)) is not None:
                name = f"{study}-{last.profile}-{last.seed}.json"
                content = json.dumps(dict(last.document)).encode()
                write_atomically(self.out / ".lab" / name, content)

    async def cancel(self, job: Job, patience: float = 10.0) -> None:
        """Ctrl-C for the job; after `patience` seconds, the end."""
        process = job.process
        if process is None or process.returncode is not None:
            return
        job.ending = True
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        for _ in range(int(patience / 0.05)):
            if job.state != "running":
                return
            await asyncio.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):
            process.kill()

    async def events(self, job: Job, after: int) -> AsyncIterator[dict[str, Any]]:
        """Everything that the job says from line `after` on, then how it ended.

        A server that is closing ends it before; the page asks again once it is back.
        """
        while True:
            ended = job.state != "running"
            while after < len(job.lines):
                yield {"id": after + 1, "line": job.lines[after]}
                after += 1
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
            with contextlib.suppress(*UNREADABLE):
                document = json.loads(path.read_bytes())
                run = (document["profile"], document["seed"])
                if isinstance(document["claims"], list):
                    found[run] = document
        with contextlib.suppress(DamagedResult):
            if (last := stored_result(self.out / study)) is not None:
                found[last.profile, last.seed] = dict(last.document)
        return list(found.values())

    async def stop(self) -> None:
        """Interrupt what runs and wait until it has said what it saved."""
        if (job := self.running) is not None:
            await self.cancel(job)
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


def _unnamed(words: str, job: Job) -> str:
    assert job.folder is not None
    return words.replace(f"{job.folder.name}/", "")
