"""Questions with slow answers: a job is started, followed, and cancelled."""

import asyncio
import json
import pathlib
import tempfile
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, StreamingResponse
from starlette.requests import ClientDisconnect

from .job import Job
from .jobs import Jobs
from .request_models import ABSENT, BUSY, Checkup, GUARDED, MALFORMED, missing, Number, Reproduce


UPLOAD = {"content": {"application/octet-stream": {"schema": {"format": "binary"}}}}
UPLOADS, SLOWEST = 8, 60.0
"""Unfinished uploads at once, and the seconds that each may take."""


def job_routes(jobs: Jobs) -> APIRouter:
    """What can be asked of the jobs of one server."""
    router = APIRouter(responses=GUARDED)
    uploading: set[str] = set()

    def job_of(number: int) -> Job:
        if number not in jobs.all:
            raise missing(f"job {number}")
        return jobs.all[number]

    @router.post(
        "/api/checkup",
        responses=MALFORMED | BUSY,
        openapi_extra={"requestBody": {"required": True, **UPLOAD}},
    )
    async def checkup(request: Request, asked: Annotated[Checkup, Query()]) -> dict[str, Any]:
        """Start a checkup of a safetensors file sent as the body.

        What the network hears may follow the weights in the body. The file goes when
        the checkup ends; the page is there as long as the server runs.
        """
        _free(jobs)
        if len(uploading) >= UPLOADS:
            raise HTTPException(429, "too many uploads are unfinished; try again")
        folder = tempfile.TemporaryDirectory(prefix="remanence-lab-")
        model = pathlib.Path(folder.name) / "model.safetensors"
        inputs = model.with_name("inputs.txt" if asked.hear == "text" else "inputs.npy")
        uploading.add(folder.name)
        try:
            async with asyncio.timeout(SLOWEST):
                sizes = await _upload(request, model, inputs, asked.weights)
            if not sizes[0]:
                raise HTTPException(400, "the file is empty")
            if (asked.hear == "noise") == bool(sizes[1]) or sizes[0] < (asked.weights or 1):
                raise HTTPException(400, "the body must hold the weights, then the inputs")
            _free(jobs)  # another may have come first
        except BaseException as problem:
            folder.cleanup()
            if isinstance(problem, TimeoutError):
                raise HTTPException(408, "the upload took too long") from None
            if isinstance(problem, ClientDisconnect):
                raise HTTPException(400, "the upload was broken off") from None
            if isinstance(problem, OSError):
                raise HTTPException(507, f"it cannot be kept: {problem.strerror}") from None
            raise
        finally:
            uploading.discard(folder.name)
        option = {"noise": ["--noise"], "text": ["--text"], "npy": ["--inputs"]}[asked.hear]
        source = option if asked.hear == "noise" else [*option, str(inputs)]
        job = await jobs.checkup(folder, source, steps=asked.steps, seed=asked.seed)
        return job.summary

    @router.get("/checkups/{number}.html", include_in_schema=False)
    def checkup_page(number: Number) -> HTMLResponse:
        page = job_of(number).page
        if page is None:
            raise missing("such page")
        return HTMLResponse(page)

    @router.post("/api/reproduce", responses=MALFORMED | BUSY)
    async def reproduce(question: Reproduce) -> dict[str, Any]:
        """Start a study in a process of its own."""
        _free(jobs)
        job = await jobs.reproduce(question.study, question.profile, question.seed)
        return job.summary

    @router.get("/api/jobs")
    def listed() -> list[dict[str, Any]]:
        """Every job since the server began."""
        return [job.summary for job in jobs.all.values()]

    @router.get("/api/jobs/{number}/events", responses=ABSENT)
    async def events(request: Request, number: Number) -> StreamingResponse:
        """What a job says, as server-sent events; goes on from `Last-Event-ID`."""
        job = job_of(number)
        last = request.headers.get("last-event-id", "0")
        heard = int(last) if last.isascii() and last.isdecimal() and len(last) < 9 else 0

        async def stream() -> AsyncIterator[str]:
            async for event in jobs.events(job, min(heard, len(job.lines))):
                yield f"id: {event['id']}\ndata: {json.dumps(event)}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    @router.delete("/api/jobs/{number}", responses=ABSENT)
    async def cancel(number: Number) -> dict[str, Any]:
        """Interrupt a job; its finished parts stay."""
        job = job_of(number)
        await jobs.cancel(job)
        return job.summary

    return router


def _free(jobs: Jobs) -> None:
    try:
        jobs.refuse_second()
    except ValueError as refusal:
        raise HTTPException(409, str(refusal)) from None


async def _upload(
    request: Request, model: pathlib.Path, inputs: pathlib.Path, weights: int | None
) -> tuple[int, int]:
    """Stream a body to disk: so many bytes of weights, then the inputs; the size of both."""
    sizes = [0, 0]
    with model.open("wb") as first, inputs.open("wb") as second:
        async for chunk in request.stream():
            end = len(chunk) if weights is None else max(0, weights - sizes[0])
            sizes[0] += first.write(chunk[:end])
            sizes[1] += second.write(chunk[end:])
    return sizes[0], sizes[1]
