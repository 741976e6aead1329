"""Doors under a fuzzer that is led by what it covers; skipped where there is none.

It sees our own code, not the Rust of safetensors: so besides whole files it is given
headers, whose JSON decides which network is built, and words.
"""

import json
import os
import pathlib
import subprocess
import sys

import jax
import pytest
from fuzzed import Counts

from remanence import cells, formats, nets


pytest.importorskip("atheris")
GUIDED = pathlib.Path(__file__).with_name("guided.py")
RUNS = {"headers": 4000, "networks": 2000, "words": 4000}
PATIENCE = 300


def seeds(door, folder):
    """Sound inputs to start from."""
    folder.mkdir()
    key = jax.random.key(0)
    kinds = [cells.Elman, cells.LSTM, cells.GRU]
    made = [nets.Recurrent(kind.init(2, 3, key=key)) for kind in kinds]
    stack = (cells.Linear.init(2, 3, key=key), cells.Diagonal.init(3, 2, key=key))
    for number, net in enumerate([*made, nets.Recurrent(cells.Stack(stack))]):
        formats.save(net, folder / "net.safetensors")
        whole = (folder / "net.safetensors").read_bytes()
        size = int.from_bytes(whole[:8], "little")
        content = {"headers": whole, "networks": whole[8 : 8 + size], "words": b"\1ab"}
        (folder / str(number)).write_bytes(content[door])
    (folder / "net.safetensors").unlink()


@pytest.mark.parametrize("door", RUNS)
def test_what_the_fuzzer_finds_is_read_or_refused(door, tmp_path, capsys):
    start = tmp_path / "seeds"
    seeds(door, start)
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(GUIDED), door, str(RUNS[door]), start],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    counts = Counts(f"{door}, led by coverage")
    counts.seen = json.loads(ended.stdout.splitlines()[-1])
    seen = counts.done(capsys)
    assert seen["read"] > 0 and seen["refused"] > 0
    assert seen["read"] + seen["refused"] >= RUNS[door]
    assert seen["peak MB"] < 2048
