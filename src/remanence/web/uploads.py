"""Files from outside on their way to disk: so many at once, each within its time."""

import asyncio
import dataclasses
import pathlib
import re
import tempfile

from fastapi import HTTPException, Request
from starlette.requests import ClientDisconnect


UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"format": "binary"}}},
    }
}
"""A body of bytes, in the words of OpenAPI."""
UPLOADS, SLOWEST = 8, 60.0
"""Unfinished uploads at once, and the seconds that each may take."""


@dataclasses.dataclass(frozen=True)
class Upload:
    """A folder that whoever asked for it removes, and what came."""

    folder: tempfile.TemporaryDirectory
    model: pathlib.Path
    inputs: pathlib.Path
    sizes: tuple[int, int]


class Uploads:
    """The uploads of one server."""

    def __init__(self) -> None:
        self._unfinished = 0

    async def receive(
        self, request: Request, name: str, *, weights: int | None = None, inputs: str = "inputs.npy"
    ) -> Upload:
        """The body in a new folder: so many bytes of weights under their name, then the inputs."""
        if self._unfinished >= UPLOADS:
            raise HTTPException(429, "too many uploads are unfinished; try again")
        folder = tempfile.TemporaryDirectory(prefix="remanence-lab-")
        model = pathlib.Path(folder.name) / file_name(name)
        second = model.parent / "inputs" / inputs  # whatever the model's name is
        self._unfinished += 1
        try:
            second.parent.mkdir()
            async with asyncio.timeout(SLOWEST):
                sizes = await _stream(request, model, second, weights)
            if not sizes[0]:
                raise HTTPException(400, "the file is empty")
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
            self._unfinished -= 1
        return Upload(folder, model, second, sizes)


def file_name(name: str) -> str:
    """The name that an upload has on disk: its own, without what a path or a page might mind."""
    return re.sub(r"^[.-]|[^\w.() -]", "_", name[-60:])


async def _stream(
    request: Request, model: pathlib.Path, inputs: pathlib.Path, weights: int | None
) -> tuple[int, int]:
    sizes = [0, 0]
    with model.open("wb") as first, inputs.open("wb") as second:
        async for chunk in request.stream():
            end = len(chunk) if weights is None else max(0, weights - sizes[0])
            sizes[0] += first.write(chunk[:end])
            sizes[1] += second.write(chunk[end:])
    return sizes[0], sizes[1]
