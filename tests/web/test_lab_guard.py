"""Whom and what the lab refuses."""

import concurrent.futures
import contextlib
import http.client
import re

import pytest


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1.evil.example", ""]
)
def test_a_foreign_host_is_refused(server, host):
    status, answer = server.ask("GET", "/api/studies", host=host or " ")
    assert (status in (400, 403) and "detail" in str(answer)) or status == 400


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:1", "http://localhost:1"]
)
def test_a_foreign_origin_is_refused(server, origin):
    status, answer = server.ask("POST", "/api/memorize", {"text": "ab"}, {"Origin": origin})
    assert (status, answer["detail"]) == (403, "requests from other pages are refused")
    site = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert server.ask("GET", "/api/studies", headers=site)[0] == 403


def test_its_own_names_are_welcome(server):
    host = f"localhost:{server.port}"
    own = {"Origin": f"http://{host}"}
    assert server.ask("GET", "/api/studies", headers=own, host=host)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/results/../../etc/passwd",
        "/results/..%2f..%2fetc%2fpasswd",
        "/results/memorization/%2e%2e/%2e%2e/secret.txt",
        "/results/.lab/x.json",
        "/results/memorization/.hidden",
        "/results//etc/passwd",
        "/results/secret.txt",
        "/results/memorization/escape.json",
        "/static/..%2fapp.py",
        "/static/app.py",
        "/results/memorization/%00",
    ],
)
def test_nothing_outside_the_results_is_served(server, path):
    (server.out / "secret.txt").write_text("secret")
    (server.out.parent / "outside.json").write_text('"secret"')
    (server.out / "memorization").mkdir(exist_ok=True)
    link = server.out / "memorization" / "escape.json"
    if not link.is_symlink():
        link.symlink_to(server.out.parent / "outside.json")
    status, answer = server.ask("GET", path)
    link.unlink()
    with contextlib.suppress(OSError):  # another test has put a result there
        (server.out / "memorization").rmdir()
    assert status in (400, 404) and "secret" not in str(answer)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/memorize", {"text": ""}),
        ("/api/memorize", {"text": "a" * 61}),
        ("/api/memorize", {"text": 5}),
        ("/api/memorize", {"text": "a", "more": 1}),
        ("/api/windows", {"error": 0}),
        ("/api/windows", {"units": 3}),
        ("/api/windows", {"gain": 4.01}),
        ("/api/windows", {"seed": True}),
        ("/api/windows", {"gain": "0.1"}),
        ("/api/reproduce", {"study": "nonsense"}),
        ("/api/reproduce", {"study": "memorization", "seed": -1}),
    ],
)
def test_bad_questions_are_refused(server, path, body):
    assert server.ask("POST", path, body)[0] == 422


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"gain": NaN}', b"[" * 5000]
)
def test_malformed_bodies_are_refused(server, body):
    headers = {"Content-Type": "application/json"}
    assert server.ask("POST", "/api/windows", body, headers)[0] in (400, 422)


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
            connection.request("POST", path, iter([megabyte] * 66), headers, encode_chunked=True)
        with contextlib.suppress(ConnectionError):
            answer = connection.getresponse()
            assert answer.status == 413 and b"at most 64 MB" in answer.read()
    finally:
        connection.close()
    assert server.ask("GET", "/api/studies")[0] == 200


def test_many_questions_at_once_are_answered_or_put_off(server):
    question = {"units": 1}
    with concurrent.futures.ThreadPoolExecutor(40) as crowd:
        asked = [crowd.submit(server.ask, "POST", "/api/windows", question) for _ in range(40)]
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
    assert not re.search(r"https?://(?!www\.w3\.org)", text) and not re.search(r"\son\w+=", text)


def test_questions_of_any_shape_never_break_the_server(server):
    """Every documented path with values of the wrong kind: refused, never a bug."""
    _, schema = server.ask("GET", "/openapi.json")
    odd = [None, True, -1, 1e308, "x" * 5000, [], {}, [[[]]], "\u0000", "🧲"]
    for path, verbs in schema["paths"].items():
        for verb, said in verbs.items():
            if path in ("/api/reproduce", "/api/checkup"):
                continue
            filled = path.replace("{number}", "7").replace("{study}", "nonsense")
            names = ["text", "gain", "kind", "units", "error", "seed", "name"]
            for value in odd:
                body = dict.fromkeys(names[: 1 + odd.index(value) % 3], value)
                status, _ = server.ask(verb.upper(), filled, body if verb == "post" else None)
                assert status < 500, (verb, path, value)
            assert said["responses"]
