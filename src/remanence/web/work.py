"""Questions with slow answers: a job is started, followed, and cancelled."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, StreamingResponse

from .jobs import Job, Jobs
from .questions import ABSENT, BUSY, Checkup, GUARDED, MALFORMED, missing, Number, Reproduce


UPLOAD = {"content": {"application/octet-stream": {"schema": {"format": "binary"}}}}


def work(jobs: Jobs) -> APIRouter:
    """What can be asked of the jobs of one server."""
    router = APIRouter(responses=GUARDED)

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

        What the network hears may follow the weights in the body. The file is not
        kept; the page is, beyond this server's life, only if `keep` asks for it.
        """
        content = await request.body()
        end = len(content) if asked.weights is None else asked.weights
        if not content[:end]:
            raise HTTPException(400, "the file is empty")
        if (asked.hear == "noise") != (end >= len(content)):
            raise HTTPException(400, "the body must hold the weights, then the inputs")
        try:
            job = await jobs.checkup(
                content[:end],
                content[end:],
                hear=asked.hear,
                steps=asked.steps,
                seed=asked.seed,
                keep=asked.keep,
            )
        except ValueError as refusal:
            raise HTTPException(409, str(refusal)) from None
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
        try:
            job = await jobs.reproduce(question.study, question.profile, question.seed)
        except ValueError as refusal:
            raise HTTPException(409, str(refusal)) from None
        return job.summary

    @router.get("/api/jobs")
    def listed() -> list[dict[str, Any]]:
        """Every job, also those of earlier servers on the same results."""
        return [job.summary for job in jobs.all.values()]

    @router.get("/api/jobs/{number}/events", responses=ABSENT)
    async def events(request: Request, number: Number) -> StreamingResponse:
        """What a job says, as server-sent events; goes on from `Last-Event-ID`."""
        job = job_of(number)
        last = request.headers.get("last-event-id", "0")
        told = int(last) if last.isascii() and last.isdecimal() and len(last) < 9 else 0

        async def stream() -> AsyncIterator[str]:
            async for event in jobs.events(job, min(told, len(job.lines))):
                yield f"id: {event['id']}\ndata: {json.dumps(event)}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    @router.delete("/api/jobs/{number}", responses=ABSENT)
    async def cancel(number: Number) -> dict[str, Any]:
        """Interrupt a job; its finished parts stay."""
        job = job_of(number)
        await jobs.cancel(job)
        return job.summary

    return router
