"""Questions with slow answers: a job is started, followed, and cancelled."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, StreamingResponse

from .job import Job
from .jobs import Jobs
from .request_models import ABSENT, BUSY, Checkup, GUARDED, MALFORMED, missing, Number, Reproduce
from .uploads import UPLOAD, Uploads


def job_routes(jobs: Jobs, uploads: Uploads) -> APIRouter:
    """What can be asked of the jobs of one server."""
    router = APIRouter(responses=GUARDED)

    def job_of(number: int) -> Job:
        if number not in jobs.all:
            raise missing(f"job {number}")
        return jobs.all[number]

    @router.post("/api/checkup", responses=MALFORMED | BUSY, openapi_extra=UPLOAD)
    async def checkup(request: Request, asked: Annotated[Checkup, Query()]) -> dict[str, Any]:
        """Start a checkup of a network's file, sent as the body.

        The inputs may follow the weights in the body. The file goes when
        the checkup ends; the page is there as long as the server runs.
        """
        _free(jobs)
        inputs = "inputs.txt" if asked.source == "text" else "inputs.npy"
        sizes = {"weights": asked.weights, "config": asked.config}
        sent = await uploads.receive(request, asked.name, inputs=inputs, **sizes)
        try:
            if (asked.source == "noise") == bool(sent.sizes[1]) or sent.sizes[0] < (
                asked.weights or 1
            ):
                raise HTTPException(400, "the body must hold the weights, then the inputs")
            _free(jobs)  # another may have come first
        except HTTPException:
            sent.folder.cleanup()
            raise
        option = {"noise": ["--noise"], "text": ["--text"], "npy": ["--inputs"]}[asked.source]
        given = option if asked.source == "noise" else [*option, str(sent.inputs)]
        job = await jobs.checkup(sent, given, steps=asked.steps, seed=asked.seed)
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
        received = int(last) if last.isascii() and last.isdecimal() and len(last) < 9 else 0

        async def stream() -> AsyncIterator[str]:
            async for event in jobs.events(job, min(received, len(job.lines))):
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
