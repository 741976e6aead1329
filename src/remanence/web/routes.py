"""What can be asked of the lab: quick answers, jobs with slow ones, and stored results."""

import asyncio
import contextlib
import json
import pathlib
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, StreamingResponse

from .. import subjects
from ..report import DamagedResult
from ..report.claims import VERDICTS
from ..report.html import render
from ..report.pages import results_index, study_page
from ..subjects import stored_result, STUDIES
from . import request_models as asked
from .answers import drawn_windows, file_windows, frontier, weights
from .jobs import Job, Jobs
from .pages import TEMPLATES
from .request_models import ABSENT, BUSY, GUARDED, MALFORMED, missing, Number, SLOW
from .uploads import receive, UPLOAD
from .worker import Worker


KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".csv": "text/csv; charset=utf-8",
    ".nc": "application/x-netcdf",
    ".json": "application/json",
}
"""What may be served from the results folder."""


def quick_answers(memories: Worker, measurements: Worker, places: asyncio.Semaphore) -> APIRouter:
    """The questions of two worker processes: a long string holds up no measurement."""
    router = APIRouter(prefix="/api", responses=MALFORMED | GUARDED | SLOW)

    async def answer(worker: Worker, request: Request, question: Any, *given: Any) -> Any:
        try:
            return await worker(request.is_disconnected, question, *given)
        except ValueError as refusal:
            raise HTTPException(400, str(refusal)) from None

    @router.post("/memorize")
    async def memorize(request: Request, question: asked.Memorize) -> dict[str, Any]:
        """Every network that repeats a string, with what it costs."""
        return await answer(memories, request, frontier, question.text)

    @router.get("/memorize/weights", response_class=Response)
    async def memorize_weights(
        request: Request, text: asked.Text, method: asked.Method
    ) -> Response:
        """One of those networks as a safetensors file."""
        content = await answer(memories, request, weights, text, method)
        name = {"content-disposition": f'attachment; filename="memory-{method}.safetensors"'}
        return Response(content, media_type="application/octet-stream", headers=name)

    @router.post("/windows")
    async def windows(request: Request, q: asked.Windows) -> dict[str, Any]:
        """What windows leave out of a drawn network: proved and measured."""
        given = (q.kind, q.units, q.gain, q.seed, q.error)
        return await answer(measurements, request, drawn_windows, *given)

    @router.post("/windows/file", responses=BUSY, openapi_extra=UPLOAD)
    async def windows_of_file(
        request: Request, name: asked.Name, error: asked.Error = 1e-3
    ) -> dict[str, Any]:
        """The same of a network's file, sent as the body."""
        sent = await receive(places, request, name)
        with sent.folder:
            return await answer(measurements, request, file_windows, str(sent.model), error)

    return router


def job_routes(jobs: Jobs, places: asyncio.Semaphore) -> APIRouter:
    """A job is started, followed, and cancelled."""
    router = APIRouter(responses=GUARDED)

    def job_of(number: int) -> Job:
        if number not in jobs.all:
            raise missing(f"job {number}")
        return jobs.all[number]

    @router.post("/api/checkup", responses=MALFORMED | BUSY, openapi_extra=UPLOAD)
    async def checkup(request: Request, given: Annotated[asked.Checkup, Query()]) -> dict[str, Any]:
        """Start a checkup of a network's file, sent as the body.

        The inputs may follow the weights in the body.
        """
        jobs.refuse_second()
        inputs = "inputs.txt" if given.source == "text" else "inputs.npy"
        sizes = {"weights": given.weights, "config": given.config}
        sent = await receive(places, request, given.name, inputs=inputs, **sizes)
        try:
            unlike = (given.source == "noise") == bool(sent.sizes[1])
            if unlike or sent.sizes[0] < (given.weights or 1):
                raise HTTPException(400, "the body must hold the weights, then the inputs")
            jobs.refuse_second()  # another may have come first
        except HTTPException:
            sent.folder.cleanup()
            raise
        option = {"noise": ["--noise"], "text": ["--text"], "npy": ["--inputs"]}[given.source]
        source = option if given.source == "noise" else [*option, str(sent.inputs)]
        job = await jobs.checkup(sent, source, steps=given.steps, seed=given.seed)
        return job.summary

    @router.get("/checkups/{number}.html", include_in_schema=False)
    def checkup_page(number: Number) -> HTMLResponse:
        if (page := job_of(number).page) is None:
            raise missing("such page")
        return HTMLResponse(page)

    @router.post("/api/reproduce", responses=MALFORMED | BUSY)
    async def reproduce(question: asked.Reproduce) -> dict[str, Any]:
        """Start a study in a process of its own."""
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


def result_routes(out: pathlib.Path, jobs: Jobs) -> APIRouter:
    """What can be read of one results folder."""
    router = APIRouter(responses=GUARDED)

    @router.get("/api/studies")
    def studies() -> list[dict[str, Any]]:
        """The studies, with what is stored of each."""
        return [_stored(out, name) for name in STUDIES]

    @router.get("/api/studies/{study}/runs", responses=ABSENT)
    def runs(study: str) -> list[dict[str, Any]]:
        """The claims of earlier runs, one document a profile and seed."""
        if study not in STUDIES:
            raise missing("such study")
        return jobs.runs(study)

    @router.get("/results/{path:path}", include_in_schema=False)
    def results(path: str) -> Response:
        return _result(out, path)

    return router


def _stored(out: pathlib.Path, name: str) -> dict[str, Any]:
    try:
        result, note = stored_result(out / name), "not run yet"
    except DamagedResult as problem:
        result, note = None, f"damaged: {problem.args[0]}"
    if result is None:
        return {"study": name, "stored": False, "note": note}
    verdicts = [claim.verdict for claim in result.claims]
    return {
        "study": name,
        "stored": True,
        "title": result.document.get("title", name),
        "profile": result.profile,
        "seed": result.seed,
        "tally": {verdict: verdicts.count(verdict) for verdict in VERDICTS},
        "claims": result.document["claims"],
        "notes": result.notes,
    }


def _result(out: pathlib.Path, path: str) -> Response:
    """A file of the results folder; never anything hidden or outside of it."""
    absent: HTTPException = missing("such result")
    parts = path.split("/")
    ours = parts[0] in STUDIES or path == "index.html"
    odd = any(not part or part.startswith(".") for part in parts) or "\0" in path
    if not ours or odd or len(path) > 1000:
        raise absent
    root = out.resolve()
    file = (root / path).resolve()
    if not file.is_relative_to(root):
        raise absent
    if file.is_file() and file.suffix in KINDS:
        return FileResponse(file, media_type=KINDS[file.suffix])
    if path in ("index.html", f"{parts[0]}/index.html"):
        return _unwritten_page(root, parts[0] if parts[1:] else "")
    raise absent


def _unwritten_page(out: pathlib.Path, name: str) -> HTMLResponse:
    """The page in the place of one that is no file: of claims alone, or of nothing yet."""
    if not name:
        return HTMLResponse(results_index(out, list(STUDIES), {}, subjects.study)[0])
    with contextlib.suppress(DamagedResult):
        if (kept := stored_result(out / name)) is not None:
            return HTMLResponse(study_page(subjects.study(name), kept))
    shown = {"title": f"remanence: {name}", "home": "/results/index.html", "study": name}
    return HTMLResponse(render("not_run.html", folder=TEMPLATES, **shown), 404)
