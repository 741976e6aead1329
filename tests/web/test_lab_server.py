"""What the lab answers, and whom it refuses."""

import concurrent.futures
import contextlib
import http.client
import json
import re
import sys
import time

import pytest
from lab_server import finished, Server, SMALL


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/docs",
        "/openapi.json",
        "/api/studies",
        "/static/lab.js",
        "/static/page.css",
    ],
)
def test_pages_are_there(server, path):
    assert server.ask("GET", path)[0] == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example", ""],
)
def test_a_foreign_host_is_refused(server, host):
    status, answer = server.ask("GET", "/api/studies", host=host or " ")
    assert (status in (400, 403) and "detail" in str(answer)) or status == 400


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:1", "http://localhost:1"],
)
def test_a_foreign_origin_is_refused(server, origin):
    status, answer = server.ask(
        "POST", "/api/memorize", {"text": "ab"}, {"Origin": origin}
    )
    assert (status, answer["detail"]) == (403, "requests from other pages are refused")
    site = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert server.ask("GET", "/api/studies", headers=site)[0] == 403


def test_its_own_names_are_welcome(server):
    host = f"localhost:{server.port}"
    own = {"Origin": f"http://{host}"}
    assert server.ask("GET", "/api/studies", headers=own, host=host)[0] == 200


@pytest.mark.parametrize(
    "path",
    ["/results/../../etc/passwd", "/results/..%2f..%2fetc%2fpasswd", "/results/memorization/%2e%2e/%2e%2e/secret.txt",
     "/results/.lab/x.json", "/results/memorization/.hidden", "/results//etc/passwd", "/results/secret.txt",
     "/results/memorization/escape.json", "/static/..%2fapp.py", "/static/app.py", "/results/memorization/%00"],
)  # fmt: skip
def test_nothing_outside_the_results_is_served(server, path):
    (server.out / "secret.txt").write_text("secret")
    (server.out.parent / "outside.json").write_text('"secret"')
    (server.out / "memorization").mkdir(exist_ok=True)
    link = server.out / "memorization" / "escape.json"
    if not link.is_symlink():
        link.symlink_to(server.out.parent / "outside.json")
    status, answer = server.ask("GET", path)
    link.unlink()
    (server.out / "memorization").rmdir()
    assert status in (400, 404) and "secret" not in str(answer)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/memorize", {"text": ""}),
        ("/api/memorize", {"text": "a" * 61}),
        ("/api/memorize", {"text": 5}),
        ("/api/memorize", {"text": "a", "more": 1}),
        ("/api/dynamics", {"radius": -1}),
        ("/api/dynamics", {"units": 3}),
        ("/api/languages", {"T": [[1, 2], [0, 1]]}),
        ("/api/reproduce", {"study": "nonsense"}),
        ("/api/reproduce", {"study": "memorization", "seed": -1}),
    ],
)
def test_bad_questions_are_refused(server, path, body):
    assert server.ask("POST", path, body)[0] == 422


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"radius": NaN}', b"[" * 5000]
)
def test_malformed_bodies_are_refused(server, body):
    headers = {"Content-Type": "application/json"}
    assert server.ask("POST", "/api/dynamics", body, headers)[0] in (400, 422)


def test_what_is_too_large_is_refused_unread(server):
    headers = {"Content-Length": str(10**10)}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.putrequest("POST", "/api/checkup")
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413 and b"at most 64 MB" in answer.read()
    connection.close()


@pytest.mark.parametrize("path", ["/api/checkup", "/api/memorize"])
def test_what_grows_too_large_on_its_way_is_refused(server, path):
    """No length is told, so that only counting helps."""
    megabyte = b"x" * 2**20
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"Content-Type": "application/json"}
    try:
        with contextlib.suppress(ConnectionError):  # it may hang up before we end
            connection.request(
                "POST", path, iter([megabyte] * 66), headers, encode_chunked=True
            )
        with contextlib.suppress(ConnectionError):
            answer = connection.getresponse()
            assert answer.status == 413 and b"at most 64 MB" in answer.read()
    finally:
        connection.close()
    assert server.ask("GET", "/api/studies")[0] == 200


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


def test_pairs_are_known_exactly_when_they_are_connected(server):
    chain = [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    _, whole = server.ask("POST", "/api/languages", {"T": chain})
    _, apart = server.ask(
        "POST", "/api/languages", {"T": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    )
    assert whole["connected"] and whole["untaught"][-1] < 1e-6
    assert (
        apart["components"] == 3
        and apart["untaught"][-1] > 0.5
        and apart["taught"][-1] < 1e-6
    )


def test_a_study_runs_is_kept_and_can_be_compared(server):
    for seed in (0, 1):
        status, job = server.ask(
            "POST", "/api/reproduce", {"study": "memorization", "seed": seed}
        )
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
    assert (
        studies[0]["stored"]
        and studies[0]["seed"] == 1
        and studies[0]["tally"]["holds"] == 2
    )
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


def test_many_questions_at_once_are_answered_or_put_off(server):
    question = {"radius": 0.9, "coupling": 0.0, "units": 2}
    with concurrent.futures.ThreadPoolExecutor(40) as crowd:
        asked = [
            crowd.submit(server.ask, "POST", "/api/dynamics", question)
            for _ in range(40)
        ]
        statuses = [one.result()[0] for one in asked]
    assert set(statuses) <= {200, 429} and statuses.count(200) >= 10
    assert server.ask("GET", "/api/studies")[0] == 200


def test_every_answer_forbids_what_the_page_does_not_need(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", "/")
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert "default-src 'none'" in (answer.getheader("content-security-policy") or "")
    assert answer.getheader("x-content-type-options") == "nosniff"
    assert not re.search(r"https?://(?!www\.w3\.org)", text) and not re.search(
        r"\son\w+=", text
    )


def test_questions_of_any_shape_never_break_the_server(server):
    """Every documented path with values of the wrong kind: refused, never a bug."""
    _, schema = server.ask("GET", "/openapi.json")
    odd = [None, True, -1, 1e308, "x" * 5000, [], {}, [[[]]], "\u0000", "🧲"]
    for path, verbs in schema["paths"].items():
        for verb, said in verbs.items():
            if path in ("/api/reproduce", "/api/checkup"):
                continue
            filled = path.replace("{number}", "7").replace("{study}", "nonsense")
            names = ["text", "radius", "T", "units", "scale", "seed", "angle"]
            for value in odd:
                body = dict.fromkeys(names[: 1 + odd.index(value) % 3], value)
                status, _ = server.ask(
                    verb.upper(), filled, body if verb == "post" else None
                )
                assert status < 500, (verb, path, value)
            assert said["responses"]
