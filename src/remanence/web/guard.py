"""Who may ask: this machine's own pages only, in reasonable sizes.

A page from elsewhere can reach a loopback port through the user's browser. It is
known by its Host (a rebound name) or by its Origin, and refused.
"""

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


NAMES = ("127.0.0.1", "localhost", "[::1]")
LARGEST = 64 * 1024 * 1024  # bytes of an upload

STRICT = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


class Guard:
    """An ASGI application behind the checks."""

    def __init__(self, app: ASGIApp, largest: int = LARGEST) -> None:
        self.app, self.largest = app, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with a sentence."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        sentence, status = refusal(headers, scope["server"][1], self.largest)
        if sentence:
            answer = JSONResponse({"detail": sentence}, status, {"connection": "close"})
            await answer(scope, receive, send)
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self.largest:
                # Known to the application, which answers with it in its own way.
                raise HTTPException(413, _too_large(self.largest))
            return message

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"content-security-policy", STRICT.encode()),
                    (b"x-content-type-options", b"nosniff"),
                    (b"referrer-policy", b"no-referrer"),
                    (b"cross-origin-resource-policy", b"same-origin"),
                    (b"cross-origin-opener-policy", b"same-origin"),
                ]
            await send(message)

        await self.app(scope, counted, guarded)


def _too_large(largest: int) -> str:
    return f"at most {largest // 1024**2} MB are taken"


def refusal(headers: dict[str, str], port: int, largest: int) -> tuple[str, int]:
    """The sentence against a request and its status; no sentence if it may pass."""
    hosts = {f"{name}:{port}" for name in NAMES}
    if headers.get("host") not in hosts:
        return "this server answers only to its own name on this machine", 403
    origin = headers.get("origin")
    foreign = origin is not None and origin not in {f"http://{host}" for host in hosts}
    # A link from elsewhere may open our page; nothing else from there may.
    linked = headers.get("sec-fetch-mode") == "navigate"
    if foreign or (headers.get("sec-fetch-site") == "cross-site" and not linked):
        return "requests from other pages are refused", 403
    length = headers.get("content-length", "0")
    if not length.isdecimal():
        return "the content length is not a number", 400
    if int(length) > largest:
        return _too_large(largest), 413
    return "", 200
