"""Two runs with one seed on one machine write the same bytes; another seed does not."""

import os
import pathlib
import subprocess
import sys

import pytest


STUDY = pathlib.Path(__file__).parents[1] / "trained_study.py"


def claims(out, seed, hashing, *command):
    """The bytes of `claims.json`, from a process of its own."""
    env = os.environ | {"PYTHONHASHSEED": hashing, "MPLBACKEND": "agg"}
    words = [*(command or (str(STUDY), str(out), str(seed)))]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", *words],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return (out / "memorization" / "claims.json").read_bytes()


def test_a_run_with_the_same_seed_writes_the_same_bytes(tmp_path):
    first, again, other = (
        claims(tmp_path / name, seed, hashing)
        for name, seed, hashing in (("one", 0, "1"), ("two", 0, "2"), ("three", 1, "1"))
    )
    assert first == again and first != other


@pytest.mark.slow
def test_a_whole_study_writes_the_same_bytes_twice(tmp_path):
    words = ["-m", "remanence", "reproduce", "memorization", "--quiet", "--out"]
    first, again = (
        claims(tmp_path / name, 0, hashing, *words, str(tmp_path / name))
        for name, hashing in (("one", "1"), ("two", "2"))
    )
    assert first == again
