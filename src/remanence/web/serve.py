"""`remanence serve`: the lab in a browser, on this machine only."""

import socket
from pathlib import Path

from typer import echo, Option


HOST = "127.0.0.1"


def serve(
    port: int = Option(8321, min=0, max=65535, help="0 takes a free one."),
    out: Path = Option("results", help="The folder that results go to."),
    browser: bool = Option(True, "--browser/--no-browser", help="Open the browser."),
    quiet: bool = Option(False, "--quiet", help="Say only the address."),
) -> None:
    """The lab in a browser, on this machine only. Ctrl-C ends it."""
    try:
        import uvicorn

        from .app import lab
    except ModuleNotFoundError as missing:
        sentence = f"the lab needs {missing.name}: pip install '.[web]' in a clone of remanence"
        raise ValueError(sentence) from None
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as problem:
        listening.close()
        raise ValueError(f"port {port} cannot be used: {problem.strerror}") from None
    address = f"http://{HOST}:{listening.getsockname()[1]}/"
    echo(address)
    if browser:
        import threading
        import webbrowser

        threading.Timer(0.5, webbrowser.open, [address]).start()
    server = uvicorn.Server(
        uvicorn.Config(
            lab(out, closing=lambda: server.should_exit),
            log_config=None,  # else it closes the handlers of others, and their files
            log_level="error" if quiet else "warning",
            access_log=False,
            timeout_graceful_shutdown=15,
            server_header=False,
        )
    )
    server.run(sockets=[listening])
