"""What the lab answers."""

import json
import re
import sys
import time

import pytest
import small_study
from lab_server import finished, Server, SMALL

from remanence.report import Bench, conclude, json_bytes, write_atomically


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/openapi.json", "/api/studies", "/static/lab.js", "/static/lab.css"]
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


def test_claims_that_were_kept_alone_are_read(tmp_path):
    """As in docs/results: the index and the study have a page, though neither is a file."""
    study = small_study.study()
    outcome = small_study.run(study.profiles["quick"], Bench(tmp_path))
    made = {"profile": "full", "seed": 0, "command": "", "provenance": {}}
    content = json_bytes(conclude(study, outcome, **made).document)
    write_atomically(tmp_path / "memorization" / "claims.json", content)
    server = Server(tmp_path)
    try:
        stored, missing = server.ask("GET", "/api/studies")[1][:2]
        assert list(stored["tally"].items()) == [
            ("holds", 2), ("differs", 0), ("refuted", 1), ("open", 1)
        ]  # fmt: skip
        assert stored["profile"] == "full" and not missing["stored"]
        status, front = server.ask("GET", "/results/index.html")
        assert status == 200 and "memorization/index.html#claim-000.3" in front
        status, page = server.ask("GET", "/results/memorization/index.html")
        assert status == 200 and 'id="claim-000.3"' in page and "<math" in page
        assert "nothing is stored about it" in page and "the claims were kept, and not" in page
    finally:
        server.stop()


def test_a_string_comes_back_as_networks(server):
    status, answer = server.ask("POST", "/api/memorize", {"text": "<b>&</b>"})
    assert status == 200 and answer["text"] == "<b>&</b>"
    rows = {row["method"]: row for row in answer["networks"]}
    assert rows["shift"]["dimension"] == 1 and rows["shift"]["exponent"] > 0
    assert rows["permutation"]["dimension"] == rows["permutation"]["period"] == 8
    assert rows["tanh"]["exponent"] < 0


@pytest.mark.parametrize("kind", ["tanh", "lstm", "gru"])
def test_what_is_proved_of_a_window_bounds_what_is_measured(server, kind):
    status, found = server.ask("POST", "/api/windows", {"kind": kind, "gain": 0.05, "units": 16})
    assert status == 200 and found["rate"] < 1
    pairs = list(zip(found["proved"], found["measured"], strict=True))
    assert len(pairs) > 5 and all(high >= low for high, low in pairs if low > 1e-12)
    assert found["proved_window"] >= found["measured_window"] >= 1
    status, strong = server.ask("POST", "/api/windows", {"kind": kind, "gain": 4.0, "units": 16})
    assert status == 200 and strong["proved_window"] is None and set(strong["proved"]) == {None}


def test_windows_of_a_file_are_those_of_its_network(server, tmp_path):
    import jax
    import numpy as np

    import remanence as rm

    cell = rm.cells.Elman.init(2, 4, key=jax.random.key(0))
    rm.save(rm.nets.Recurrent(cell), tmp_path / "a.safetensors")
    content = (tmp_path / "a.safetensors").read_bytes()
    status, of_file = server.ask("POST", "/api/windows/file?name=../../a.safetensors", content)
    assert status == 200
    gain = float(np.linalg.norm(cell.W_h, 2))
    _, drawn = server.ask("POST", "/api/windows", {"units": 4, "gain": gain})
    assert of_file["measured"] == pytest.approx(drawn["measured"], rel=1e-4)
    status, refused = server.ask("POST", "/api/windows/file?name=a.pt", b"no network")
    assert status == 400 and "a.pt" in refused["detail"] and "Traceback" not in str(refused)


def test_the_page_offers_every_kind_of_file_that_is_read(server):
    from remanence.checkup.sources import CHECKPOINTS

    assert f'accept="{",".join(CHECKPOINTS)}"' in server.ask("GET", "/")[1]


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
