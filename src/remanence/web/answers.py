"""Questions with quick answers: networks for a string, dynamics, languages."""

from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response

from .dynamics import dynamics
from .languages import languages
from .memories import frontier, weights
from .request_models import Dynamics, GUARDED, Languages, MALFORMED, Memorize, Method, SLOW, Text
from .worker import Abandoned, Busy, Late, Worker


def answers(worker: Worker) -> APIRouter:
    """The questions that one worker process answers, each within its time limit."""
    router = APIRouter(prefix="/api", responses=MALFORMED | GUARDED | SLOW)

    async def asked(request: Request, question: Any, *given: Any) -> Any:
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
        return await asked(request, frontier, question.text)

    @router.get("/memorize/weights", response_class=Response)
    async def memorize_weights(request: Request, text: Text, method: Method) -> Response:
        """One of those networks as a safetensors file."""
        content = await asked(request, weights, text, method)
        name = f'attachment; filename="memory-{method}.safetensors"'
        return Response(
            content, media_type="application/octet-stream", headers={"content-disposition": name}
        )

    @router.post("/dynamics")
    async def lyapunov_spectrum(request: Request, question: Dynamics) -> dict[str, Any]:
        """Exponents, orbit and gradient of a weakly coupled network."""
        q = question
        return await asked(request, dynamics, q.radius, q.angle, q.coupling, q.units, q.seed)

    @router.post("/languages")
    async def shared_representations(request: Request, question: Languages) -> dict[str, Any]:
        """Connectivity of taught pairs, and what a small network learns from them."""
        return await asked(request, languages, question.T, question.scale, question.seed)

    return router
