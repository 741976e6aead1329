"""Killed without warning, again and again, and continued: the same bits, nothing lost."""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from remanence._atomic_write import TEMPORARY
from remanence.train import identity
from remanence.train.checkpoint import last_step


sys.path.insert(0, str(pathlib.Path(__file__).parent))
import victim


PATIENCE = 300.0


@pytest.fixture(autouse=True)
def same_code(monkeypatch):
    monkeypatch.setattr(identity, "code_hash", victim.same_code)


@pytest.fixture(scope="module")
def zygote(tmp_path_factory):
    said = tmp_path_factory.mktemp("zygote") / "stderr"
    with said.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", victim.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    process.said = said
    yield process
    process.stdin.close()
    process.wait(timeout=30)
    process.stdout.close()


def ordered(zygote, what, folder, pause_at=None):
    order = {"what": what, "folder": str(folder), "pause_at": pause_at}
    zygote.stdin.write(json.dumps(order) + "\n")
    zygote.stdin.flush()
    return int(zygote.stdout.readline())


def status(zygote):
    return int(zygote.stdout.readline())


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "the run made no progress"
        time.sleep(0.002)


def stored_chunks(folder):
    return len(list(folder.glob("chunk-*.safetensors")))


def stored_steps(folder):
    return last_step(folder)


def killed_five_times(zygote, what, folder, progress, total, between):
    """Four kills at random moments, one between write and rename; what was stored at each."""
    draw = random.Random(f"kill {what}")
    # Not in the last third: on a busy machine a run gets on while we look away.
    moments = sorted(draw.sample(range(1, 2 * total // 3), 4))
    paused_after = draw.randrange(1, 3)
    marker = folder.parent / f"{folder.name}.paused"
    seen = []
    for number, moment in enumerate(moments):
        if number == paused_after:
            child = ordered(zygote, what, folder, pause_at=draw.randrange(2, 4))
            wait_until(marker.exists)
            assert (folder / marker.read_text()).exists()
            os.kill(child, signal.SIGKILL)
            assert status(zygote) == -signal.SIGKILL
            assert list(folder.glob(f".*{TEMPORARY}")), "the unfinished file is still there"
            seen.append(progress(folder))
            between(folder)
        child = ordered(zygote, what, folder)
        wait_until(lambda moment=moment: progress(folder) >= moment)
        time.sleep(draw.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        assert status(zygote) in (-signal.SIGKILL, 0)
        seen.append(progress(folder))
        between(folder)
    assert len(seen) == 5
    print(f"{what}: killed with {seen} of {total} stored")  # noqa: T201
    assert sum(0 < count < total for count in seen) >= 3
    return seen


def test_a_sweep_killed_five_times_ends_with_the_same_bits(zygote, tmp_path):
    folder = tmp_path / "sweep"
    known = {}

    def kept(folder):
        # A stored chunk is never computed or written again.
        for path in folder.glob("chunk-*.safetensors"):
            when = path.stat().st_mtime_ns
            assert known.setdefault(path.name, when) == when

    killed_five_times(zygote, "sweep", folder, stored_chunks, victim.CHUNKS, kept)
    ordered(zygote, "sweep", folder)
    assert status(zygote) == 0
    kept(folder)
    assert not list(folder.glob(f".*{TEMPORARY}"))
    assert zygote.said.read_text() == ""  # nothing was found damaged on the way
    result = victim.swept(folder)
    assert result.identical(victim.swept())


def test_a_training_killed_five_times_ends_with_the_same_bits(zygote, tmp_path):
    folder = tmp_path / "training"
    total = victim.STEPS // victim.EVERY

    progress = lambda folder: stored_steps(folder) // victim.EVERY
    killed_five_times(zygote, "training", folder, progress, total, lambda folder: None)
    ordered(zygote, "training", folder)
    assert status(zygote) == 0
    assert not list(folder.glob(f".*{TEMPORARY}"))
    assert zygote.said.read_text() == ""  # nothing was found damaged on the way
    again, straight = victim.fitted(folder), victim.fitted()
    np.testing.assert_array_equal(again.model, straight.model)
    assert again.history.identical(straight.history)
