"""The lab's server: pages, questions with quick answers, and jobs with slow ones.

Every verb is one of the Python surface: memorize, checkup, reproduce. Nothing is
kept but results, and those only in the results folder.
"""

import contextlib
import json
import pathlib
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import FastAPI, HTTPException, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    StreamingResponse,
)
from pydantic import BaseModel, ConfigDict, Field

from .. import __version__
from ..report import Damaged, stored
from ..report.html import stylesheet
from ..studies import STUDIES
from .dynamics import dynamics, SIZES
from .guard import Guard
from .jobs import Job, Jobs
from .lab import docs_page, lab_page
from .languages import languages
from .memories import frontier, LONGEST, METHODS, weights
from .worker import Busy, Late, Worker


STATIC = pathlib.Path(__file__).parent / "static"
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


class Strict(BaseModel):
    """A question; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Memorize(Strict):
    """A string to be remembered."""

    text: str = Field(min_length=1, max_length=LONGEST)


class Dynamics(Strict):
    """A weakly coupled network."""

    radius: float = Field(0.95, ge=0.0, le=1.5)
    angle: float = Field(0.5, ge=0.0, le=3.15)
    coupling: float = Field(0.1, ge=0.0, le=2.0)
    units: Literal[2, 4, 8, 16, 32] = 8
    seed: int = Field(0, ge=0, le=2**31 - 1)


class Languages(Strict):
    """Which pairs are taught: rows are outputs, columns inputs."""

    T: list[list[Literal[0, 1]]] = Field(min_length=2, max_length=8)
    scale: float = Field(0.1, gt=0.0, le=1.0)
    seed: int = Field(0, ge=0, le=2**31 - 1)


class Reproduce(Strict):
    """A study to be run."""

    study: Literal[tuple(STUDIES)]  # type: ignore[valid-type]
    profile: Literal["quick", "full"] = "quick"
    seed: int = Field(0, ge=0, le=2**31 - 1)


Refusals: dict[int | str, dict[str, Any]] = {
    400: {"description": "Refused with a sentence"},
    403: {"description": "From another page or by another name"},
    413: {"description": "Too large"},
    429: {"description": "Too much at once"},
    503: {"description": "Took too long"},
}


def lab(out: pathlib.Path, command: list[str] | None = None) -> Guard:
    """The server's application for one results folder."""
    worker, jobs = Worker(), Jobs(out, command)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await jobs.stop()
        worker.stop()

    app = FastAPI(
        title="remanence",
        version=__version__,
        description="The lab's questions. They answer on this machine only.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )

    @app.exception_handler(RequestValidationError)
    async def refused(
        request: Request, problem: RequestValidationError
    ) -> JSONResponse:
        # What came is not repeated: it may be huge, or not even be JSON.
        said = [{"loc": list(e["loc"]), "msg": e["msg"]} for e in problem.errors()]
        return JSONResponse({"detail": said}, 422)

    async def asked(question: Any, *given: Any) -> Any:
        try:
            return await worker(question, *given)
        except ValueError as refusal:
            raise HTTPException(400, str(refusal)) from None
        except Busy:
            raise HTTPException(429, "too much was asked at once; try again") from None
        except Late:
            raise HTTPException(503, "the answer took too long; ask for less") from None

    def job_of(number: int) -> Job:
        if number not in jobs.all:
            raise HTTPException(404, f"there is no job {number}")
        return jobs.all[number]

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def front() -> str:
        return lab_page()

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    def documentation() -> str:
        return docs_page(app.openapi())

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        if name == "page.css":
            return Response(stylesheet(), media_type="text/css")
        files = {path.name: path for path in STATIC.iterdir() if path.is_file()}
        if name not in files:
            raise HTTPException(404, "there is no such file")
        return FileResponse(files[name], media_type=KINDS[files[name].suffix])

    @app.post("/api/memorize", responses=Refusals)
    async def memorize(question: Memorize) -> dict[str, Any]:
        """Every network that repeats a string, with what it costs."""
        return await asked(frontier, question.text)

    @app.get("/api/memorize/weights", responses=Refusals, response_class=Response)
    async def memorize_weights(
        text: Annotated[str, Query(min_length=1, max_length=LONGEST)],
        method: Annotated[Literal[METHODS], Query()],  # type: ignore[valid-type]
    ) -> Response:
        """One of those networks as a safetensors file."""
        content = await asked(weights, text, method)
        name = f'attachment; filename="memory-{method}.safetensors"'
        return Response(
            content,
            media_type="application/octet-stream",
            headers={"content-disposition": name},
        )

    @app.post("/api/dynamics", responses=Refusals)
    async def lyapunov_spectrum(question: Dynamics) -> dict[str, Any]:
        """Exponents, orbit and gradient of a weakly coupled network."""
        q = question
        return await asked(dynamics, q.radius, q.angle, q.coupling, q.units, q.seed)

    @app.post("/api/languages", responses=Refusals)
    async def shared_representations(question: Languages) -> dict[str, Any]:
        """Connectivity of taught pairs, and what a small network learns from them."""
        return await asked(languages, question.T, question.scale, question.seed)

    @app.post("/api/checkup", responses=Refusals | {409: {"description": "Busy"}})
    async def check(
        request: Request,
        steps: Annotated[int, Query(ge=50, le=5000)] = 500,
        seed: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    ) -> dict[str, Any]:
        """Start a checkup of a safetensors file sent as the body; it is not kept."""
        content = await request.body()
        if not content:
            raise HTTPException(400, "the file is empty")
        try:
            return (await jobs.checkup(content, steps, seed)).summary
        except ValueError as refusal:
            raise HTTPException(409, str(refusal)) from None

    @app.get("/checkups/{number}.html", include_in_schema=False)
    def checkup_page(number: Annotated[int, Path(ge=1, le=2**31 - 1)]) -> HTMLResponse:
        page = job_of(number).page
        if page is None:
            raise HTTPException(404, "there is no such page")
        return HTMLResponse(page)

    @app.get("/api/studies")
    def studies() -> list[dict[str, Any]]:
        """The studies, with what is stored of each."""
        return [_stored(out, name) for name in STUDIES]

    @app.get(
        "/api/studies/{study}/runs", responses={404: {"description": "No such study"}}
    )
    def runs(study: str) -> list[dict[str, Any]]:
        """The claims of earlier runs, one document a profile and seed."""
        if study not in STUDIES:
            raise HTTPException(404, "there is no such study")
        return jobs.runs(study)

    @app.get("/api/jobs")
    def listed() -> list[dict[str, Any]]:
        """Every job of this server."""
        return [job.summary for job in jobs.all.values()]

    @app.post("/api/reproduce", responses={409: {"description": "Another study runs"}})
    async def reproduce(question: Reproduce) -> dict[str, Any]:
        """Start a study in a process of its own."""
        try:
            job = await jobs.reproduce(question.study, question.profile, question.seed)
        except ValueError as refusal:
            raise HTTPException(409, str(refusal)) from None
        return job.summary

    @app.get(
        "/api/jobs/{number}/events", responses={404: {"description": "No such job"}}
    )
    async def events(
        request: Request, number: Annotated[int, Path(ge=1, le=2**31 - 1)]
    ) -> StreamingResponse:
        """What a job says, as server-sent events; goes on from `Last-Event-ID`."""
        job = job_of(number)
        last = request.headers.get("last-event-id", "0")
        after = (
            min(int(last), len(job.lines)) if last.isdecimal() and len(last) < 9 else 0
        )

        async def stream() -> AsyncIterator[str]:
            async for event in jobs.events(job, after):
                yield f"id: {event['id']}\ndata: {json.dumps(event)}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    @app.delete("/api/jobs/{number}", responses={404: {"description": "No such job"}})
    async def cancel(
        number: Annotated[int, Path(ge=1, le=2**31 - 1)],
    ) -> dict[str, Any]:
        """Interrupt a job; its finished parts stay."""
        job = job_of(number)
        await jobs.cancel(job)
        return job.summary

    @app.get("/results/{path:path}", include_in_schema=False)
    def results(path: str) -> Response:
        return _result(out, path)

    assert tuple(SIZES) == (2, 4, 8, 16, 32)
    return Guard(app)


def _stored(out: pathlib.Path, name: str) -> dict[str, Any]:
    try:
        result = stored(out / name)
    except Damaged as problem:
        return {"study": name, "stored": False, "note": f"damaged: {problem.args[0]}"}
    if result is None:
        return {"study": name, "stored": False, "note": "not run yet"}
    verdicts = [claim.verdict for claim in result.claims]
    return {
        "study": name,
        "stored": True,
        "title": result.document.get("title", name),
        "profile": result.profile,
        "seed": result.seed,
        "tally": {
            verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)
        },
        "claims": result.document["claims"],
    }


def _result(out: pathlib.Path, path: str) -> Response:
    """A file of the results folder; never anything hidden or outside of it."""
    parts = path.split("/")
    ours = parts[0] in STUDIES or path in ("index.html", "plotly.min.js")
    odd = any(not part or part.startswith(".") for part in parts) or "\0" in path
    if not ours or odd:
        raise HTTPException(404, "there is no such result")
    root = out.resolve()
    file = (root / path).resolve()
    if not file.is_relative_to(root) or not file.is_file():
        raise HTTPException(404, "there is no such result")
    if file.suffix not in KINDS:
        raise HTTPException(404, "there is no such result")
    return FileResponse(file, media_type=KINDS[file.suffix])
