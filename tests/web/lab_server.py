"""A real server on a free port of this machine."""

import contextlib
import http.client
import json
import pathlib
import socket
import threading
import time

import pytest


pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
import uvicorn

from remanence.web.app import lab


SMALL = pathlib.Path(__file__).parents[1] / "small_study.py"


class Server:
    """Where it listens, and one way to ask it."""

    def __init__(self, out, command=None):
        self.out = out
        self.listening = socket.socket()
        self.listening.bind(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(
            lab(out, command, closing=lambda: self.server.should_exit),
            log_config=None,
            log_level="error",
            lifespan="on",
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(
            target=self.server.run, args=([self.listening],), daemon=True
        )
        self.thread.start()
        while not self.server.started:
            time.sleep(0.02)

    def ask(self, method, path, body=None, headers=None, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
        given = {"Host": host or f"127.0.0.1:{self.port}", **(headers or {})}
        if isinstance(body, dict):
            body, given["Content-Type"] = json.dumps(body), "application/json"
        try:
            connection.request(method, path, body=body, headers=given)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        try:
            return answer.status, json.loads(content)
        except ValueError:
            return answer.status, content.decode(errors="replace")

    def stop(self):
        self.server.should_exit = True
        self.thread.join(timeout=60)
        self.listening.close()


def finished(server, number, wait=90.0):
    """A job's summary once it has ended."""
    begun = time.monotonic()
    while time.monotonic() - begun < wait:
        status, jobs = server.ask("GET", "/api/jobs")
        assert status == 200
        job = next(job for job in jobs if job["id"] == number)
        if job["state"] != "running":
            return job
        time.sleep(0.1)
    raise AssertionError("the job did not end")


@contextlib.contextmanager
def slow_upload(server, sent=2**20, length=32 * 2**20):
    """A connection whose upload has begun and does not end."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.putrequest("POST", "/api/checkup")
    connection.putheader("Content-Length", str(length))
    connection.endheaders()
    connection.send(b"x" * sent)
    with contextlib.closing(connection):
        yield connection


def until(true, wait=20.0):
    """Wait for a condition."""
    end = time.monotonic() + wait
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)
