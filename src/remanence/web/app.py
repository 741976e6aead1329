"""The lab's server: pages, questions with quick answers, and jobs with slow ones."""

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator, Callable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles

from .. import __version__
from .guard import Guard
from .jobs import Jobs
from .pages import docs_page, lab_page
from .routes import job_routes, quick_answers, result_routes
from .uploads import UPLOADS
from .worker import Worker


def lab(
    out: pathlib.Path, command: list[str] | None = None, closing: Callable[[], bool] = lambda: False
) -> Guard:
    """The server's application for one results folder; `closing` says that it ends."""
    memories, measurements = Worker(), Worker()
    jobs, places = Jobs(out, command, closing), asyncio.Semaphore(UPLOADS)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await jobs.stop()
        memories.stop()
        measurements.stop()

    app = FastAPI(
        title="remanence",
        version=__version__,
        description="The lab's questions. They answer on this machine only.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )

    @app.exception_handler(RequestValidationError)
    async def refused(request: Request, problem: RequestValidationError) -> JSONResponse:
        # What came is not repeated: it may be huge, or not even be JSON.
        said = [{name: e[name] for name in ("loc", "msg", "type")} for e in problem.errors()]
        return JSONResponse({"detail": said}, 422)

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def front() -> str:
        return lab_page()

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    def documentation() -> str:
        return docs_page(app.openapi())

    app.mount("/static", StaticFiles(directory=pathlib.Path(__file__).parent / "static"))
    app.include_router(quick_answers(memories, measurements, places))
    app.include_router(job_routes(jobs, places))
    app.include_router(result_routes(out, jobs))
    return Guard(app)
