"""A hostile client on this machine, and an honest one beside it whose every request is answered.

Long lines, questions that are broken off, uploads that never end, jobs that are cancelled
at once. `REMANENCE_HOSTILE_SECONDS` says for how long (`make slow` takes a minute).
"""

import contextlib
import http.client
import json
import os
import random
import socket
import sys
import threading
import time

import pytest
from lab_server import finished, Server, slow_upload


SECONDS = float(os.environ.get("REMANENCE_HOSTILE_SECONDS", "60"))
# Half of the jobs say a line that no buffer holds, half of them do not end by themselves.
JOB = """
import pathlib, random, sys, time
sys.stderr.write(random.choice(["short", "x" * 200_000]) + "\\n")
time.sleep(random.choice([0, 0.1, 300]))
out = pathlib.Path(sys.argv[sys.argv.index("--out") + 1])
out.write_text("<p>the page</p>") if out.suffix else None
print("{}")
"""


def hostile(server, end, seed):
    """Break things off in every way, until the time is over."""
    draw = random.Random(seed)

    def broken_question():
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            body = json.dumps({"text": "ab" * draw.randrange(1, 30)})
            head = f"POST /api/memorize HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            kind = "Content-Type: application/json\r\n"
            line.sendall(f"{head}{kind}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            time.sleep(draw.choice([0, 0.05, 0.3]))

    def slow():
        with slow_upload(server, sent=draw.randrange(2**20)):
            time.sleep(draw.choice([0, 0.1, 0.5]))

    def nonsense():
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(draw.randbytes(draw.randrange(1, 5000)))

    def cancelled():
        status, job = server.ask("POST", "/api/checkup", b"x" * draw.randrange(1, 9999))
        assert status in (200, 409, 429)
        if status == 200:
            time.sleep(draw.choice([0, 0.2]))
            assert server.ask("DELETE", f"/api/jobs/{job['id']}")[0] == 200

    def long_header():
        server.ask("GET", "/api/studies", headers={"X-Long": "x" * 60_000})

    while time.monotonic() < end:
        with contextlib.suppress(OSError, http.client.HTTPException):  # hung up on
            draw.choice([broken_question, slow, nonsense, cancelled, long_header])()


@pytest.mark.parametrize("seconds", [4.0, pytest.param(SECONDS, marks=pytest.mark.slow)])
def test_every_honest_request_is_answered_beside_a_hostile_client(tmp_path, monkeypatch, seconds):
    monkeypatch.setattr("remanence.web.jobs.PATIENCE", 1.0)
    server = Server(tmp_path, [sys.executable, "-c", JOB])
    end = time.monotonic() + seconds
    clients = [threading.Thread(target=hostile, args=(server, end, seed)) for seed in range(3)]
    try:
        for client in clients:
            client.start()
        asked = 0
        while time.monotonic() < end:
            assert server.ask("GET", "/")[0] == 200
            status, answer = server.ask("POST", "/api/memorize", {"text": "abab"})
            assert status == 200 and answer["networks"], (status, answer)
            status, answer = server.ask("POST", "/api/checkup", b"WEIGHTS")
            assert status == 200 or (status in (409, 429) and answer["detail"])
            asked += 1
        for client in clients:
            client.join()
        assert asked
        # Once it has gone, nothing runs that was not asked for, and the next job is taken.
        for job in server.ask("GET", "/api/jobs")[1]:
            server.ask("DELETE", f"/api/jobs/{job['id']}")
            finished(server, job["id"], wait=20)
        assert server.ask("POST", "/api/checkup", b"WEIGHTS")[0] == 200
    finally:
        server.stop()
