"""What a restarted server still knows, and what a checkup is given to hear."""

import json
import re
import subprocess
import sys
import threading
import time

import pytest
from lab_server import finished, Server, SMALL


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


def test_finished_jobs_survive_a_restart(tmp_path):
    first = Server(tmp_path, [sys.executable, str(SMALL)])
    _, job = first.ask("POST", "/api/reproduce", {"study": "memorization"})
    assert finished(first, job["id"])["state"] == "done"
    said = ended(first, job["id"])
    first.stop()
    second = Server(tmp_path, [sys.executable, str(SMALL)])
    try:
        _, jobs = second.ask("GET", "/api/jobs")
        assert [(one["id"], one["state"]) for one in jobs] == [(1, "done")]
        assert ended(second, 1) == [event for event in said if len(event) > 1]
        _, runs = second.ask("GET", "/api/studies/memorization/runs")
        assert [run["seed"] for run in runs] == [0]
        _, job = second.ask("POST", "/api/reproduce", {"study": "memorization"})
        assert job["id"] == 2
        assert finished(second, 2)["state"] == "done"
    finally:
        second.stop()


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


def test_a_job_whose_server_was_killed_says_so(tmp_path):
    home = tmp_path / ".lab" / "jobs"
    home.mkdir(parents=True)
    job = {
        "id": 4,
        "study": "memorization",
        "profile": "quick",
        "seed": 0,
        "state": "running",
        "lines": ["turning"],
        "document": None,
        "page": None,
    }
    (home / "4.json").write_text(json.dumps(job))
    # None of these is a job: another name, another kind, a link, no document at all.
    (home / "5.json").write_text(json.dumps(job))
    (home / "6.json").write_text(json.dumps(job | {"id": 6, "lines": 3}))
    (home / "7.json").symlink_to(home / "4.json")
    (home / "8.json").write_text("[" * 100_000)
    server = Server(tmp_path)
    try:
        _, jobs = server.ask("GET", "/api/jobs")
        assert [(one["id"], one["state"]) for one in jobs] == [(4, "cancelled")]
        assert "the server ended while this ran" in jobs[0]["said"]
    finally:
        server.stop()


def test_a_server_that_ends_does_not_wait_for_those_who_follow_its_job(tmp_path):
    server = Server(tmp_path, [sys.executable, "-c", "import time; time.sleep(300)"])
    _, job = server.ask("POST", "/api/reproduce", {"study": "memorization"})
    path, heard = f"/api/jobs/{job['id']}/events", []
    follower = threading.Thread(target=lambda: heard.append(server.ask("GET", path)))
    follower.start()
    time.sleep(0.5)
    server.stop()
    follower.join(timeout=5)
    # The stream ended before the job, which was then cancelled and says so.
    assert heard and heard[0][0] == 200 and "cancelled" not in heard[0][1]
    kept = json.loads((tmp_path / ".lab" / "jobs" / "1.json").read_text())
    assert kept["state"] == "cancelled"


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
    status, job = server.ask("POST", f"/api/checkup?hear={kind}&weights=7", body)
    assert status == 200 and finished(server, job["id"])["state"] == "done"
    answer = ended(server, job["id"])[-1]["answer"]
    assert answer["model"] == "WEIGHTS" and answer["noise"] == (kind == "noise")
    wanted = {"noise": None, "text": "--text", "npy": "--inputs"}[kind]
    assert (answer["given"], answer["heard"]) == (wanted, "INPUTS" if wanted else "")


@pytest.mark.parametrize(
    "asked", ["hear=text", "hear=text&weights=7", "hear=noise&weights=3", "weights=2"]
)
def test_a_body_that_does_not_fit_is_refused(echo, asked):
    status, answer = echo().ask("POST", f"/api/checkup?{asked}", b"WEIGHTS")
    assert status == 400 and "the weights, then the inputs" in answer["detail"]


@pytest.mark.parametrize("keep", [True, False])
def test_a_checkup_outlives_its_server_only_if_asked(echo, tmp_path, keep):
    first = echo()
    _, job = first.ask("POST", f"/api/checkup?keep={str(keep).lower()}", b"WEIGHTS")
    assert finished(first, job["id"])["state"] == "done"
    page = f"/checkups/{job['id']}.html"
    assert first.ask("GET", page) == (200, "<p>the page</p>")
    first.stop()
    second = echo()
    assert second.ask("GET", page)[0] == (200 if keep else 404)
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) == keep  # nothing else of it is anywhere
    assert "WEIGHTS" not in "".join(path.read_text() for path in kept) or keep


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
