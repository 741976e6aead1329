"""What is already in the results folder: studies, earlier runs, pages."""

import pathlib
from typing import Any

from fastapi import APIRouter, HTTPException, Response
from fastapi.responses import FileResponse, HTMLResponse

from ..report import DamagedResult
from ..report.html import render
from ..report.results_index import Entry, results_page
from ..subjects import stored_result, STUDIES
from .jobs import Jobs
from .pages import TEMPLATES
from .request_models import ABSENT, GUARDED, missing


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
        result = stored_result(out / name)
    except DamagedResult as problem:
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
        "tally": {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)},
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
    if not file.is_file():
        if path not in ("index.html", f"{parts[0]}/index.html"):
            raise absent
        return HTMLResponse(_not_yet(parts[:-1]), 404 if parts[:-1] else 200)
    if file.suffix not in KINDS:
        raise absent
    return FileResponse(file, media_type=KINDS[file.suffix])


def _not_yet(parts: list[str]) -> str:
    """The page in the place of one that nothing has been measured for yet."""
    if not parts:
        return results_page([Entry(name=n, note="Not run yet.") for n in STUDIES])
    return render(
        "not_run.html",
        folder=TEMPLATES,
        title=f"remanence: {parts[0]}",
        home="/results/index.html",
        study=parts[0],
    )
