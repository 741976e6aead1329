"""Command lines from anywhere: done, or refused with a sentence; never a traceback."""

import pytest
from fuzzed import Counts
from hypothesis import given, HealthCheck, settings, strategies as st

from remanence.cli import main


COMMANDS = ["memorize", "checkup", "reproduce", "show", "cite", "serve"]
OPTIONS = [
    "--help",
    "--json",
    "--quiet",
    "--seed",
    "--out",
    "--profile",
    "--time-limit",
    "--cell",
    "--on",
    "--again",
    "--method",
    "--end",
    "--start",
    "--check",
    "--steps",
    "--noise",
    "--text",
    "--inputs",
    "--error",
    "--require",
    "--compare",
    "--port",
    "--version",
]
VALUES = [
    "memorization",
    "all",
    "abracadabra",
    "junk.safetensors",
    "junk.npy",
    "nowhere/deep/x",
    "..",
    ".",
    "",
    "-",
    "--",
    "-1",
    "0",
    "7",
    "1e308",
    "nan",
    "99999999999999999999",
    "5m",
    "-5s",
    "word=a",
    "=,=",
    "tcp://",
    "window<=128",
    "window<=",
    "__class__<1",
    "quick",
    "permutation",
    "torch",
    "\udc80",
    "🧲",
    "[red]x[/red]",
    "%s",
    "{}",
    "\x1b[31m",
]
# No slash: a drawn path must stay in the test's own folder.
ANYTHING = st.text(st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), max_size=8)
LINES = st.tuples(
    st.sampled_from(COMMANDS) | ANYTHING,
    st.lists(st.sampled_from(OPTIONS + VALUES) | ANYTHING, max_size=5),
).map(lambda line: [line[0], *line[1]])


@pytest.fixture(scope="module")
def counts():
    return Counts("command lines")


@pytest.fixture(scope="module", autouse=True)
def doors(tmp_path_factory):
    """Every door up to the work behind it: no study runs, no server listens."""
    uvicorn = pytest.importorskip("uvicorn")
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("lines")
        patch.chdir(home)
        (home / "junk.safetensors").write_bytes(b"\x40" + b"\0" * 7 + b"{junk")
        (home / "junk.npy").write_bytes(b"\x93NUMPY junk")
        patch.setattr("remanence._prepare_jax.prepare_jax", lambda **_: None)
        patch.setattr("remanence.cli.session.Session.run", lambda *_, **__: 0)
        patch.setattr("remanence.cli.memorize._frontier", lambda *_: [])
        patch.setattr("webbrowser.open", lambda *_: True)
        patch.setattr(uvicorn.Server, "run", lambda self, sockets: [s.close() for s in sockets])
        patch.setattr("threading.Timer.start", lambda self: None)
        yield


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=LINES)
def test_any_words_are_done_or_refused(counts, capfd, words):
    capfd.readouterr()
    with pytest.raises(SystemExit) as leaving:
        main(words)
    said = capfd.readouterr()
    counts.add({0: "done", 2: "refused"}.get(leaving.value.code, "bug"))
    assert leaving.value.code in (0, 2), (words, said.err)
    assert "Traceback" not in said.err
    if leaving.value.code == 2:
        assert said.err.strip(), words


def test_both_outcomes_were_seen(counts, capsys):
    seen = counts.done(capsys)
    assert seen["done"] > 10 and seen["refused"] > 100 and "bug" not in seen
