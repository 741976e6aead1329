"""Files from outside on their way to disk: so many at once, each within its time."""

import asyncio
import contextlib
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
UPLOADS, SLOWEST = 8, 60.0  # unfinished uploads at once, and the seconds that each may take


@dataclasses.dataclass(frozen=True)
class Upload:
    """A folder that whoever asked for it removes, and what came."""

    folder: tempfile.TemporaryDirectory
    model: pathlib.Path
    inputs: pathlib.Path
    sizes: tuple[int, int]


async def receive(
    places: asyncio.Semaphore,
    request: Request,
    name: str,
    *,
    weights: int | None = None,
    config: int = 0,
    inputs: str = "inputs.npy",
) -> Upload:
    """The body in a new folder: bytes of weights, of a configuration that goes with them, of inputs."""
    if places.locked():
        raise HTTPException(429, "too many uploads are unfinished; try again")
    folder = tempfile.TemporaryDirectory(prefix="remanence-lab-")
    # Its own name, without what a path or a page might mind.
    model = pathlib.Path(folder.name) / re.sub(r"^[.-]|[^\w.() -]", "_", name[-60:])
    second = model.parent / ".inputs" / inputs  # no model has such a name
    parts = [(model / "model.safetensors" if config else model, weights), (second, None)]
    if config:
        parts.insert(1, (model / "config.json", config))
    try:
        async with places, asyncio.timeout(SLOWEST):
            sizes = await _stream(request, parts)
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
    return Upload(folder, model, second, (sizes[0], sizes[-1]))


async def _stream(request: Request, parts: list[tuple[pathlib.Path, int | None]]) -> list[int]:
    """Each part takes so many bytes of the body, or the rest; how many came."""
    sizes, at = [0] * len(parts), 0
    with contextlib.ExitStack() as open_files:
        for path, _ in parts:
            path.parent.mkdir(exist_ok=True)
        files = [open_files.enter_context(path.open("wb")) for path, _ in parts]
        async for chunk in request.stream():
            while chunk:
                most = parts[at][1]
                end = len(chunk) if most is None else most - sizes[at]
                sizes[at] += files[at].write(chunk[:end])
                chunk = chunk[end:]
                at += bool(chunk)
    return sizes
