"""The command as a user meets it: its words, its refusals and its exit codes."""

import subprocess
import sys

import pytest

from remanence.subjects import STUDIES


def test_help_does_not_start_jax():
    code = (
        "import sys\n"
        "from remanence.cli import main\n"
        "try:\n    main(['--help'])\n"
        "finally:\n"
        "    heavy = {'jax', 'numpy', 'xarray', 'matplotlib', 'remanence.report'} & set(sys.modules)\n"
        "    sys.stderr.write(repr(sorted(heavy)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and run.stderr == "[]"
    for name in ("memorize", "checkup", "reproduce", "show", "cite", "serve"):
        assert name in run.stdout


@pytest.mark.parametrize("name", ["memorize", "checkup", "reproduce", "show", "cite", "serve"])
def test_help_of_a_command_shows_an_example_and_needs_no_jax(name):
    code = (
        "import sys\nfrom remanence.cli import main\n"
        f"try:\n    main(['{name}', '--help'])\n"
        "finally:\n    sys.stderr.write(str('jax' in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and run.stderr == "False"
    assert "Example:" in run.stdout and f"remanence {name}" in run.stdout


def test_version_also_by_module():
    run = subprocess.run(
        [sys.executable, "-m", "remanence", "--version"], capture_output=True, check=True
    )
    assert run.stdout == b"remanence 0.1.0\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["reproduce", "nonsense"], "no study is called 'nonsense'"),
        (["reproduce"], "Missing argument"),
        (["nonsense"], "No such command 'nonsense'"),
        (["reproduce", "memorization", "--profile", "huge"], "memorization has no profile 'huge'"),
        (["reproduce", "memorization", "--seed", "-1"], "--seed must not be negative, got -1"),
        (["reproduce", "memorization", "--seed", "x"], "Invalid value for '--seed'"),
        (["reproduce", "memorization", "--seed", "9" * 20], "--seed must be below 2³²"),
        (["reproduce", "memorization", "--time-limit", "soon"], "got 'soon'"),
        (["reproduce", "memorization", "--time-limit", "-5"], "got '-5'"),
        (["reproduce", "memorization", "--on", "http://x"], "got 'http://x'"),
        (["reproduce", "memorization", "--cell", "word"], "got 'word'"),
        (["reproduce", "all", "--cell", "word=a"], "--cell needs one study"),
        (["reproduce", "memorization", "--cell", "a=1,a=2"], "each name once, got"),
        (["show", "memorization", "--out", "nowhere"], "nowhere holds no result of memorization"),
        (["cite", "nonsense"], "no study is called 'nonsense'"),
    ],
)
def test_a_refusal_is_one_sentence(words, sentence, remanence, tmp_path):
    run = remanence(*words)
    assert run.returncode == 2, run.stderr
    assert sentence in run.stderr and "Traceback" not in run.stderr
    assert run.stdout == "" and len(run.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_bug_ends_with_one_and_its_traceback(tmp_path, remanence):
    run = remanence("reproduce", "memorization", "--out", tmp_path, memorization={"fail": "oops"})
    assert run.returncode == 1 and "ZeroDivisionError: oops" in run.stderr
    assert "this is a bug in remanence" in run.stderr


def test_a_refusal_by_the_package_inside_a_study_ends_with_two(remanence, tmp_path):
    run = remanence(
        "reproduce", "memorization", "--out", tmp_path, memorization={"fail": "refusal"}
    )
    assert run.returncode == 2 and "Traceback" not in run.stderr
    assert run.stderr.splitlines()[-1] == "no study is called 'nothing'; there are " + ", ".join(
        STUDIES
    )


def test_an_out_that_cannot_be_is_refused(tmp_path, remanence):
    (tmp_path / "file").write_text("")
    run = remanence("reproduce", "memorization", "--out", tmp_path / "file")
    assert run.returncode == 2 and "Traceback" not in run.stderr and "file" in run.stderr


def test_a_place_for_results_and_a_cluster_are_judged_before_anything_runs(
    remanence, tmp_path, monkeypatch
):
    taken = tmp_path / "taken"
    taken.write_text("a file")
    for out in (taken, taken / "below"):
        run = remanence("reproduce", "memorization", "--out", out, memorization={"fail": "ran"})
        assert run.returncode == 2 and "is no folder" in run.stderr
        assert "ran" not in run.stderr and taken.read_text() == "a file"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    words = ["reproduce", "memorization", "--on", "tcp://127.0.0.1:9"]
    run = remanence(*words, memorization={"fail": "ran"})
    assert run.returncode == 2 and "--on needs Dask" in run.stderr and "ran" not in run.stderr
