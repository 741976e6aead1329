"""The command as a user meets it: in its own process, by its words and exit codes."""

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
import small_study

from remanence.cli import main
from remanence.cli.session import Session
from remanence.studies import STUDIES


SMALL = pathlib.Path(__file__).parents[1] / "small_study.py"


def environment(**changes):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    return kept | {"SMALL_STUDY": json.dumps(changes), "PYTHONHASHSEED": "0"}


@dataclasses.dataclass(frozen=True)
class Ended:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def remanence(capfd, monkeypatch, tmp_path):
    """The command, run in this process on the small studies."""
    monkeypatch.setattr("remanence.cli.start.prepare_jax", lambda **_: None)
    modules = [f"remanence.studies.{module}" for module in STUDIES.values()]
    before = {name: sys.modules.get(name) for name in modules}
    monkeypatch.chdir(tmp_path)

    def run(*words, **changes):
        small_study.install(**changes)
        capfd.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main([str(word) for word in words])
        return Ended(int(leaving.value.code or 0), *capfd.readouterr())

    yield run
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """One run of all studies in a process of its own; the second has a bug."""
    out = tmp_path_factory.mktemp("all") / "results"
    run = subprocess.run(
        [sys.executable, str(SMALL), "reproduce", "all", "--out", str(out), "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=environment(fading_memory={"fail": "by zero"}),
    )
    return out, run


@pytest.fixture
def results(everything, tmp_path):
    """A copy of those results, to be harmed."""
    return shutil.copytree(everything[0], tmp_path / "results")


def test_help_does_not_start_jax():
    code = (
        "import sys\n"
        "from remanence.cli import main\n"
        "try:\n    main(['--help'])\n"
        "finally:\n"
        "    heavy = {'jax', 'numpy', 'xarray', 'matplotlib', 'remanence.report'} & set(sys.modules)\n"
        "    sys.stderr.write(repr(sorted(heavy)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0 and run.stderr == "[]"
    for name in ("memorize", "checkup", "reproduce", "show", "cite", "serve"):
        assert name in run.stdout


@pytest.mark.parametrize(
    "name", ["memorize", "checkup", "reproduce", "show", "cite", "serve"]
)
def test_help_of_a_command_shows_an_example_and_needs_no_jax(name):
    code = (
        "import sys\nfrom remanence.cli import main\n"
        f"try:\n    main(['{name}', '--help'])\n"
        "finally:\n    sys.stderr.write(str('jax' in sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0 and run.stderr == "False"
    assert "Example:" in run.stdout and f"remanence {name}" in run.stdout


def test_version_also_by_module():
    run = subprocess.run(
        [sys.executable, "-m", "remanence", "--version"],
        capture_output=True,
        check=True,
    )
    assert run.stdout == b"remanence 0.1.0\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["reproduce", "nonsense"], "no study is called 'nonsense'"),
        (["reproduce"], "Missing argument"),
        (["nonsense"], "No such command 'nonsense'"),
        (
            ["reproduce", "memorization", "--profile", "huge"],
            "memorization has no profile 'huge'",
        ),
        (
            ["reproduce", "memorization", "--seed", "-1"],
            "--seed must not be negative, got -1",
        ),
        (["reproduce", "memorization", "--seed", "x"], "Invalid value for '--seed'"),
        (["reproduce", "memorization", "--seed", "9" * 20], "--seed must be below 2³²"),
        (["reproduce", "memorization", "--time-limit", "soon"], "got 'soon'"),
        (["reproduce", "memorization", "--time-limit", "-5"], "got '-5'"),
        (["reproduce", "memorization", "--on", "http://x"], "got 'http://x'"),
        (["reproduce", "memorization", "--cell", "word"], "got 'word'"),
        (["reproduce", "all", "--cell", "word=a"], "--cell needs one study"),
        (
            ["show", "memorization", "--out", "nowhere"],
            "nowhere holds no result of memorization",
        ),
        (["cite", "nonsense"], "no study is called 'nonsense'"),
    ],
)
def test_a_refusal_is_one_sentence(words, sentence, remanence, tmp_path):
    run = remanence(*words)
    assert run.returncode == 2, run.stderr
    assert sentence in run.stderr and "Traceback" not in run.stderr
    assert run.stdout == "" and len(run.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_one_failing_study_does_not_lose_the_others(everything):
    out, run = everything
    assert run.returncode == 1
    answer = json.loads(run.stdout)
    assert answer["failed"] == {"fading-memory": "ZeroDivisionError: by zero"}
    assert [s["study"] for s in answer["studies"]] == [
        "memorization",
        "modular-addition",
        "shared-representations",
        "stable-recurrence",
    ]
    assert "about a second" in run.stderr  # the cost, said beforehand
    front = (out / "index.html").read_text()
    assert "The last run failed: ZeroDivisionError: by zero" in front


def test_the_files_are_exactly_those_that_are_promised(everything):
    out, _ = everything
    assert sorted(p.name for p in (out / "memorization").iterdir()) == [
        "claims.json",
        "data.zarr",
        "figures",
        "index.html",
        "provenance.json",
    ]
    claims = json.loads((out / "memorization" / "claims.json").read_text())
    assert [c["verdict"] for c in claims["claims"]] == [
        "holds",
        "holds",
        "refuted",
        "open",
    ]
    text = (out / "memorization" / "claims.json").read_text()
    assert str(out) not in text and "20" + "26" not in text


def test_the_same_run_gives_the_same_bytes(everything, tmp_path, remanence):
    out, _ = everything
    run = remanence("reproduce", "memorization", "--out", tmp_path / "twice", "--quiet")
    assert run.returncode == 0 and run.stderr == ""
    for name in ("claims.json", "figures/orbit.svg", "figures/orbit.csv"):
        first, second = (
            root / "memorization" / name for root in (out, tmp_path / "twice")
        )
        assert first.read_bytes() == second.read_bytes()


def test_what_is_there_is_read_back_and_what_is_damaged_is_made_again(
    results, remanence
):
    out = results
    remanence("reproduce", "modular-addition", "--out", out)
    run = remanence("reproduce", "modular-addition", "--out", out)
    assert "read back" in run.stderr and run.returncode == 0
    claims = out / "modular-addition" / "claims.json"
    whole = claims.read_bytes()
    claims.write_bytes(whole[:100])
    shown = remanence("show", "modular-addition", "--out", out)
    assert shown.returncode == 2 and "claims.json is damaged" in shown.stderr
    run = remanence("reproduce", "modular-addition", "--out", out)
    assert run.returncode == 0 and "claims.json is damaged" in run.stderr
    assert "computed again" in run.stderr and claims.read_bytes() == whole
    assert (
        remanence(
            "reproduce", "modular-addition", "--out", out, "--seed", 1
        ).stderr.count("read back")
        == 0
    )


def test_show_prints_the_table_and_the_document(everything, remanence):
    out, _ = everything
    table = remanence("show", "memorization", "--out", out)
    assert table.returncode == 0 and table.stderr == ""
    assert "refuted (quick)" in table.stdout and "0 wrong symbols" in table.stdout
    document = json.loads(remanence("show", "--json", "--out", out).stdout)
    assert len(document["studies"]) == 4


def test_show_says_where_a_result_comes_from_and_how_to_redo_it(everything, remanence):
    out, _ = everything
    by_name = remanence("show", "memorization", "--out", out)
    by_folder = remanence("show", out / "memorization")
    assert by_name.stdout == by_folder.stdout
    said = " ".join(by_name.stdout.split())
    known = json.loads((out / "memorization" / "provenance.json").read_text())
    for words in (
        "word abracadabra",  # the configuration
        f"jax {known['versions']['jax']}",
        "measurements float64",
        known["processor"],
        known["code"][:20],
        "remanence reproduce memorization --profile quick --seed 0 --out",
    ):
        assert words in said
    document = json.loads(
        remanence("show", "memorization", "--out", out, "--json").stdout
    )
    assert document["provenance"]["memorization"]["fingerprint"] == known["fingerprint"]


def test_a_page_alone_is_written_on_request(everything, remanence, tmp_path):
    out, _ = everything
    page = tmp_path / "alone.html"
    run = remanence("show", "memorization", "--out", out, "--page", page)
    assert run.returncode == 0 and page.stat().st_size > 1_000_000
    refused = remanence("show", "all", "--out", out, "--page", page)
    assert refused.returncode == 2 and "one result, not all" in refused.stderr


def test_cite_prints_the_reference(remanence):
    run = remanence("cite", "memorization")
    assert run.returncode == 0 and "A document with an & and a <tag>." in run.stdout
    assert "memorization" in json.loads(remanence("cite", "--json").stdout)["studies"]


def test_a_bug_ends_with_one_and_its_traceback(tmp_path, remanence):
    run = remanence(
        "reproduce",
        "memorization",
        "--out",
        tmp_path,
        memorization={"fail": "oops"},
    )
    assert run.returncode == 1 and "ZeroDivisionError: oops" in run.stderr
    assert "this is a bug in remanence" in run.stderr


def test_a_refusal_by_the_package_inside_a_study_ends_with_two(remanence, tmp_path):
    run = remanence(
        "reproduce", "memorization", "--out", tmp_path, memorization={"fail": "refusal"}
    )
    assert run.returncode == 2 and "Traceback" not in run.stderr
    assert run.stderr.splitlines()[
        -1
    ] == "no study is called 'nothing'; there are " + ", ".join(STUDIES)


def test_one_cell_is_one_document(tmp_path, remanence):
    run = remanence("reproduce", "memorization", "--cell", "word=ab", "--quiet")
    assert (run.returncode, json.loads(run.stdout)) == (
        0,
        {"value": 0.333333, "word": "ab"},
    )
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_says_what_was_saved_and_the_run_goes_on(tmp_path):
    out = tmp_path / "results"
    process = subprocess.Popen(
        [sys.executable, str(SMALL), "reproduce", "all", "--out", str(out), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(fading_memory={"wait": 600.0}),
    )
    part = out / ".parts" / "fading-memory"
    others = [name for name in STUDIES if name != "fading-memory"]
    watchdog = threading.Timer(300, process.kill)
    watchdog.start()
    assert process.stderr is not None
    heard, waiting = "", set(others)
    while waiting and (line := process.stderr.readline()):
        heard += line
        waiting -= {name for name in waiting if line.startswith(f"{name} took")}
    while not list(part.rglob("part.txt")) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    watchdog.cancel()
    stderr = heard + stderr
    assert process.returncode == 130, stderr
    assert f"saved: {', '.join(others)}; fading-memory keeps 1 file" in stderr
    assert "Traceback" not in stderr
    assert [s["study"] for s in json.loads(stdout)["studies"]] == others
    assert list(part.rglob("part.txt"))


def test_side_by_side_gives_the_tables_in_the_order_of_the_documents(everything):
    out, _ = everything
    run = subprocess.run(
        [sys.executable, str(SMALL), "reproduce", "all", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr.count("read back") == 4  # only the one that failed is run
    assert run.stdout.count("000 · Memorization") == 5
    assert "fading-memory took" in run.stderr


def test_a_study_beside_others_is_given_the_same_wishes(tmp_path):
    asked = Session(
        profile="quick",
        out=tmp_path,
        seed=3,
        quiet=True,
        again=True,
        deadline=time.monotonic() + 60,
        on=None,
    )
    *words, limit = asked._options()
    assert words == [
        "--profile", "quick", "--seed", "3", "--json", "--quiet", "--again",
        "--time-limit",
    ]  # fmt: skip
    assert 30 < float(limit.removesuffix("s")) <= 60


def test_a_time_limit_stops_the_run(tmp_path, remanence):
    begun = time.monotonic()
    run = remanence(
        "reproduce", "memorization", "--out", tmp_path / "r", "--time-limit", "1s",
        memorization={"wait": 60.0},
    )  # fmt: skip
    assert run.returncode == 130 and "time is up" in run.stderr
    assert time.monotonic() - begun < 60


def test_a_sweep_that_is_out_of_time_is_no_bug(tmp_path, remanence):
    run = remanence(
        "reproduce",
        "memorization",
        "--out",
        tmp_path,
        memorization={"fail": "unfinished"},
    )
    assert run.returncode == 130 and "Traceback" not in run.stderr
    assert "3 of 8 lanes are stored in" in run.stderr


def test_an_out_that_cannot_be_is_refused(tmp_path, remanence):
    (tmp_path / "file").write_text("")
    run = remanence("reproduce", "memorization", "--out", tmp_path / "file")
    assert (
        run.returncode == 2 and "Traceback" not in run.stderr and "file" in run.stderr
    )
