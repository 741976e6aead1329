"""Broken and malicious files over all readers: read or refused, nothing else."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from fuzzed import Counts


for module in ("h5py", "onnx"):
    pytest.importorskip(module)
HOSTILE = pathlib.Path(__file__).with_name("hostile.py")
ENDINGS = (".safetensors", ".pt", ".pth", ".npz", ".onnx", ".h5", ".keras")


@pytest.mark.parametrize("files", [3000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_every_hostile_file_is_read_or_refused_and_reaches_nothing(tmp_path, capsys, files):
    folders = [*sys.path, str(HOSTILE.parents[1]), str(HOSTILE.parent)]
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(HOSTILE), str(files), str(files % 7)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    told = json.loads(ended.stdout.splitlines()[-1])
    counts = Counts("files of every kind")
    counts.seen = told
    counts.done(capsys)
    assert told["outside"] == [] and not told["escaped"]
    assert sum(told["counts"].values()) == files
    assert all(told["counts"].get(f"{ending} refused", 0) > 50 for ending in ENDINGS)
    assert all(told["counts"].get(f"{ending} read", 0) > 0 for ending in ENDINGS)
    assert told["grown MiB"] < 500
