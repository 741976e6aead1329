"""What the lab answers."""

import json
import re
import sys
import time

import pytest
from lab_server import finished, Server, SMALL


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/openapi.json", "/api/studies", "/static/lab.js", "/static/page.css"]
)
def test_pages_are_there(server, path):
    assert server.ask("GET", path)[0] == 200


def test_a_page_that_is_not_there_yet_says_how_to_make_it(server):
    status, front = server.ask("GET", "/results/index.html")
    assert status == 200 and front.count("remanence reproduce ") >= 4
    status, study = server.ask("GET", "/results/stable-recurrence/index.html")
    assert status == 404 and "remanence reproduce stable-recurrence" in study
    for path in ("stable-recurrence/claims.json", "fading-memory/x/index.html"):
        assert server.ask("GET", f"/results/{path}")[1]["detail"]


def test_a_string_comes_back_as_networks(server):
    status, answer = server.ask("POST", "/api/memorize", {"text": "<b>&</b>"})
    assert status == 200 and answer["text"] == "<b>&</b>"
    rows = {row["method"]: row for row in answer["networks"]}
    assert rows["shift"]["dimension"] == 1 and rows["shift"]["exponent"] > 0
    assert rows["permutation"]["dimension"] == rows["permutation"]["period"] == 8
    assert rows["tanh"]["exponent"] < 0
    status, ragged = server.ask("POST", "/api/languages", {"T": [[1, 0], [1, 1, 1]]})
    assert status == 400 and "Traceback" not in str(ragged)
    status, empty = server.ask("POST", "/api/languages", {"T": [[1, 0], [1, 0]]})
    assert status == 400 and "column 1 of T is empty" in empty["detail"]


def test_a_rotation_without_coupling_has_the_exponents_of_its_radius(server):
    question = {"radius": 0.5, "angle": 0.7, "coupling": 0.0, "units": 4}
    status, answer = server.ask("POST", "/api/dynamics", question)
    assert status == 200
    assert [round(e, 4) for e in answer["exponents"]] == [-0.6931] * 4
    assert abs(answer["growth"][10] - 10 * -0.30103) < 1e-3


@pytest.mark.parametrize(
    ("radius", "coupling", "word"),
    [
        (0.5, 0.1, "gradients fade"),
        (1.0, 0.0, "the edge"),
        (0.3, 4.0, "chaos: the state stays bounded"),
        (1.2, 0.0, "the state runs away"),  # a linear map: nothing chaotic about it
        (1.05, 1.5, "the state runs away"),
    ],
)
def test_running_away_is_not_called_chaos(server, radius, coupling, word):
    question = {"radius": radius, "coupling": coupling, "units": 32}
    status, answer = server.ask("POST", "/api/dynamics", question)
    assert status == 200 and answer["regime"].startswith(word)
    size = max(abs(x) for point in answer["orbit"] for x in point)
    if word.startswith("chaos"):
        assert answer["exponents"][0] > 0.1
        assert size <= coupling * 32**0.5 / (1 - radius)
    if word == "the state runs away":
        assert size > 1e5


def test_pairs_are_known_exactly_when_they_are_connected(server):
    chain = [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    _, whole = server.ask("POST", "/api/languages", {"T": chain})
    _, apart = server.ask("POST", "/api/languages", {"T": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]})
    assert whole["connected"] and whole["untaught"][-1] < 1e-6
    assert apart["components"] == 3 and apart["untaught"][-1] > 0.5 and apart["taught"][-1] < 1e-6


def test_a_study_runs_is_kept_and_can_be_compared(server):
    for seed in (0, 1):
        status, job = server.ask("POST", "/api/reproduce", {"study": "memorization", "seed": seed})
        assert status == 200
        again = server.ask("POST", "/api/reproduce", {"study": "memorization"})
        assert again[0] == 409 and "is running" in again[1]["detail"]
        assert finished(server, job["id"])["state"] == "done"
    _, told = server.ask("GET", f"/api/jobs/{job['id']}/events")
    events = [json.loads(line) for line in re.findall(r"^data: (.*)$", told, re.M)]
    assert "about a second" in events[0]["line"] and events[-1]["state"] == "done"
    assert server.ask("GET", "/api/jobs/99/events")[0] == 404
    _, runs = server.ask("GET", "/api/studies/memorization/runs")
    assert [run["seed"] for run in runs] == [0, 1]
    _, studies = server.ask("GET", "/api/studies")
    assert studies[0]["stored"] and studies[0]["seed"] == 1 and studies[0]["tally"]["holds"] == 2
    status, page = server.ask("GET", "/results/memorization/index.html")
    assert status == 200 and "0 wrong symbols" in page


def test_what_is_no_network_is_refused_by_the_checkup(server):
    assert server.ask("POST", "/api/checkup", b"")[0] == 400
    status, job = server.ask("POST", "/api/checkup?steps=50", b"GIF89a; no network")
    assert status == 200
    ended = finished(server, job["id"])
    assert ended["state"] == "failed" and "/" not in ended["said"]
    assert server.ask("GET", f"/checkups/{job['id']}.html")[0] == 404


def test_a_cancelled_study_says_what_it_keeps(tmp_path, monkeypatch):
    waiting = {"memorization": {"wait": 60.0}}
    monkeypatch.setenv("SMALL_STUDY", json.dumps(waiting))
    running = Server(tmp_path, [sys.executable, str(SMALL)])
    try:
        _, job = running.ask("POST", "/api/reproduce", {"study": "memorization"})
        begun = time.monotonic()
        while not list(tmp_path.rglob("part.txt")) and time.monotonic() - begun < 90:
            time.sleep(0.05)
        assert running.ask("DELETE", f"/api/jobs/{job['id']}")[0] == 200
        ended = finished(running, job["id"])
        assert ended["state"] == "cancelled" and "keeps 1 file" in ended["said"]
    finally:
        running.stop()
