"""Questions with quick answers: networks for a string, errors of windows."""

from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response

from .memories import frontier, weights
from .request_models import (
    BUSY,
    Error,
    GUARDED,
    MALFORMED,
    Memorize,
    Method,
    Name,
    SLOW,
    Text,
    Windows,
)
from .uploads import UPLOAD, Uploads
from .windows import drawn_windows, file_windows
from .worker import Abandoned, Busy, Late, Worker


def answers(memories: Worker, measurements: Worker, uploads: Uploads) -> APIRouter:
    """The questions of two worker processes: a long string holds up no measurement."""
    router = APIRouter(prefix="/api", responses=MALFORMED | GUARDED | SLOW)

    async def asked(worker: Worker, request: Request, question: Any, *given: Any) -> Any:
        try:
            return await worker(request.is_disconnected, question, *given)
        except ValueError as refusal:
            raise HTTPException(400, str(refusal)) from None
        except Busy:
            raise HTTPException(429, "too much was asked at once; try again") from None
        except Late:
            raise HTTPException(503, "the answer took too long; ask for less") from None
        except Abandoned:
            raise HTTPException(503, "nobody waits for this answer") from None

    @router.post("/memorize")
    async def memorize(request: Request, question: Memorize) -> dict[str, Any]:
        """Every network that repeats a string, with what it costs."""
        return await asked(memories, request, frontier, question.text)

    @router.get("/memorize/weights", response_class=Response)
    async def memorize_weights(request: Request, text: Text, method: Method) -> Response:
        """One of those networks as a safetensors file."""
        content = await asked(memories, request, weights, text, method)
        name = f'attachment; filename="memory-{method}.safetensors"'
        return Response(
            content, media_type="application/octet-stream", headers={"content-disposition": name}
        )

    @router.post("/windows")
    async def windows(request: Request, question: Windows) -> dict[str, Any]:
        """What windows leave out of a drawn network: proved and measured."""
        q = question
        given = (q.kind, q.units, q.gain, q.seed, q.error)
        return await asked(measurements, request, drawn_windows, *given)

    @router.post("/windows/file", responses=BUSY, openapi_extra=UPLOAD)
    async def windows_of_file(request: Request, name: Name, error: Error = 1e-3) -> dict[str, Any]:
        """The same of a network's file, sent as the body."""
        sent = await uploads.receive(request, name)
        with sent.folder:
            return await asked(measurements, request, file_windows, str(sent.model), error)

    return router
