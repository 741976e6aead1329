"""Jobs: how they run, end and are cancelled; what of them outlives a server."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import pytest
from lab_server import finished, Server, slow_upload, SMALL, until


ECHO = """
import json, pathlib, sys
words = sys.argv[1:]
after = lambda name: pathlib.Path(words[words.index(name) + 1])
after("--out").write_text("<p>the page</p>")
given = next((name for name in ("--inputs", "--text") if name in words), None)
heard = after(given).read_bytes().decode("latin-1") if given else ""
model = pathlib.Path(words[1]).read_bytes().decode("latin-1")
print(json.dumps({"given": given, "noise": "--noise" in words, "heard": heard, "model": model}))
"""


SLEEPS = f"import time; time.sleep(299.{os.getpid()})"


def running(words):
    """The processes of this machine whose command holds these words."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += [path] if words.encode() in path.read_bytes() else []
    return found


@pytest.fixture
def echo(tmp_path):
    """A lab whose checkups say what they were given."""
    made = []

    def start():
        made.append(Server(tmp_path, [sys.executable, "-c", ECHO]))
        return made[-1]

    yield start
    for server in made:
        server.stop()


def ended(server, number):
    _, told = server.ask("GET", f"/api/jobs/{number}/events")
    return [json.loads(line) for line in re.findall(r"^data: (.*)$", told, re.M)]


def test_a_run_of_the_command_line_is_not_lost_to_one_of_the_lab(tmp_path):
    small = [sys.executable, str(SMALL)]
    by_hand = [*small, "reproduce", "memorization", "--out", str(tmp_path), "--quiet"]
    subprocess.run([*by_hand, "--seed", "3"], check=True, capture_output=True)
    server = Server(tmp_path, small)

    def runs():
        _, found = server.ask("GET", "/api/studies/memorization/runs")
        return {run["seed"]: run["claims"] for run in found}

    try:
        # The lab's run takes the place of the folder; the claims of both are compared.
        _, job = server.ask("POST", "/api/reproduce", {"study": "memorization"})
        assert finished(server, job["id"])["state"] == "done"
        assert sorted(runs()) == [0, 3]
        # What was set apart is older than what is stored now, and gives way to it.
        (apart,) = (tmp_path / ".lab").glob("memorization-quick-0.json")
        older = json.loads(apart.read_text()) | {"claims": []}
        apart.write_text(json.dumps(older))
        assert runs()[0] != []
    finally:
        server.stop()


def test_a_server_that_ends_does_not_wait_for_those_who_follow_its_job(tmp_path):
    server = Server(tmp_path, [sys.executable, "-c", SLEEPS])
    _, job = server.ask("POST", "/api/reproduce", {"study": "memorization"})
    path, heard = f"/api/jobs/{job['id']}/events", []
    follower = threading.Thread(target=lambda: heard.append(server.ask("GET", path)))
    follower.start()
    time.sleep(0.5)
    server.stop()
    follower.join(timeout=5)
    # The stream ended before the job, which was then cancelled and says so.
    assert heard and heard[0][0] == 200 and "cancelled" not in heard[0][1]
    assert not running(SLEEPS)


def test_a_job_cancelled_before_it_has_begun_is_cancelled(tmp_path):
    server = Server(tmp_path, [sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        _, job = server.ask("POST", "/api/checkup", b"WEIGHTS")
        server.ask("DELETE", f"/api/jobs/{job['id']}")
        assert finished(server, job["id"])["state"] == "cancelled"
    finally:
        server.stop()


@pytest.mark.parametrize("kind", ["noise", "text", "npy"])
def test_a_checkup_hears_what_was_chosen(echo, kind):
    server = echo()
    body = b"WEIGHTS" + (b"" if kind == "noise" else b"INPUTS")
    status, job = server.ask("POST", f"/api/checkup?source={kind}&weights=7", body)
    assert status == 200 and finished(server, job["id"])["state"] == "done"
    answer = ended(server, job["id"])[-1]["answer"]
    assert answer["model"] == "WEIGHTS" and answer["noise"] == (kind == "noise")
    wanted = {"noise": None, "text": "--text", "npy": "--inputs"}[kind]
    assert (answer["given"], answer["heard"]) == (wanted, "INPUTS" if wanted else "")


@pytest.mark.parametrize(
    "asked", ["source=text", "source=text&weights=7", "source=noise&weights=3", "weights=2"]
)
def test_a_body_that_does_not_fit_is_refused(echo, asked):
    status, answer = echo().ask("POST", f"/api/checkup?{asked}", b"WEIGHTS")
    assert status == 400 and "the weights, then the inputs" in answer["detail"]


def test_nothing_of_a_checkup_outlives_its_server(echo, tmp_path):
    first = echo()
    _, job = first.ask("POST", "/api/checkup", b"WEIGHTS")
    assert finished(first, job["id"])["state"] == "done"
    page = f"/checkups/{job['id']}.html"
    assert first.ask("GET", page) == (200, "<p>the page</p>")
    first.stop()
    assert echo().ask("GET", page)[0] == 404
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_no_upload_is_left_behind(echo, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    server = echo()
    _, job = server.ask("POST", "/api/checkup", b"WEIGHTS")
    finished(server, job["id"])
    end = time.monotonic() + 20
    while list(tmp_path.glob("remanence-lab-*")) and time.monotonic() < end:
        time.sleep(0.05)
    assert not list(tmp_path.glob("remanence-lab-*"))


def test_a_checkup_without_its_page_has_failed_and_says_so(lab):
    _, job = lab.ask("POST", "/api/checkup", b"WEIGHTS")
    *said, last = ended(lab, job["id"])
    assert last["state"] == "failed"
    assert said[-1]["line"] == "its page cannot be read: No such file or directory"


def test_a_line_longer_than_any_buffer_ends_no_job(tmp_path):
    long = "import sys; sys.stderr.write('x' * 300_000 + '\\nlast words\\n'); sys.exit(2)"
    server = Server(tmp_path, [sys.executable, "-c", long])
    try:
        for _ in range(2):  # the second is not refused: the first has ended
            status, job = server.ask("POST", "/api/checkup", b"WEIGHTS")
            assert status == 200
            ended_job = finished(server, job["id"], wait=20)
            assert (ended_job["state"], ended_job["said"]) == ("failed", "last words")
        first, *_ = ended(server, 1)
        assert first["line"] == "x" * 2000
    finally:
        server.stop()


def test_a_job_ends_although_what_it_started_holds_its_pipes(tmp_path, monkeypatch):
    monkeypatch.setattr("remanence.web.jobs.PATIENCE", 0.5)
    leaves = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEPS!r}])"
    server = Server(tmp_path, [sys.executable, "-c", leaves])
    try:
        _, job = server.ask("POST", "/api/checkup", b"WEIGHTS")
        assert finished(server, job["id"], wait=20)["state"] == "done"
        assert not running(SLEEPS)
    finally:
        server.stop()


def test_unfinished_uploads_are_on_disk_and_few_and_end(echo, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    server = echo()
    sizes = lambda: [path.stat().st_size for path in tmp_path.glob("remanence-lab-*/model*")]
    with contextlib.ExitStack() as scope:
        slow = [scope.enter_context(slow_upload(server)) for _ in range(8)]
        until(lambda: len(sizes()) == 8 and min(sizes()) >= 2**19)
        status, answer = server.ask("POST", "/api/checkup", b"WEIGHTS")
        assert status == 429 and "uploads are unfinished" in answer["detail"]
        slow.pop().close()  # broken off: its place is free again
        until(lambda: len(sizes()) == 7)
    until(lambda: not sizes())
    monkeypatch.setattr("remanence.web.uploads.SLOWEST", 0.2)
    with slow_upload(server) as late:
        assert late.getresponse().status == 408
    until(lambda: not sizes())
    monkeypatch.undo()
    assert server.ask("POST", "/api/checkup", b"WEIGHTS")[0] == 200
