"""Real faults on a real cluster of processes on this machine: nothing lost, same bits.

Two worker processes on loopback; everything stops by itself, even if the tests die.
"""

import errno
import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest


distributed = pytest.importorskip("distributed")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import faulty  # noqa: E402
from dask_processes import CHUNKS, Processes, stored, wait_until  # noqa: E402

from remanence import sweeps  # noqa: E402


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    running = Processes(tmp_path_factory.mktemp("cluster"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def straight():
    return faulty.swept()


def test_the_same_bits_as_here_and_one_program_a_worker(processes, straight):
    assert straight.identical(faulty.swept(on=processes.address))
    with distributed.Client(processes.address, set_as_default=False) as client:
        made = client.run(programs)
        assert len(made) == 2 and set(made.values()) <= {0, 1} and sum(made.values())
        # A client or a cluster object serves as well as an address.
        again = sweeps.sweep(double, {"x": [1.0, 2.0]}, on=client, x64=True)
        assert again.third.values.tolist() == [1 / 3, 2 / 3]
    assert np.isnan(straight.log).any() and not np.isnan(straight.log).all()


# How many programs a worker has made; a lambda, since workers cannot import this file.
programs = lambda: sys.modules["remanence.sweeps.worker"]._program.cache_info().currsize


def double(point, key, data):
    return {"third": point["x"] / 3}


def test_trainings_of_a_study_go_there_too(processes, tmp_path):
    from remanence.report import Bench
    from remanence.subjects.shared_representations.training_cells import Cell, table

    small = {"mask": "full", "way": "flow", "words": 3, "units": 3}
    cells = [Cell(fraction=0.5, scale=0.3, seed=seed, **small) for seed in range(6)]
    with distributed.Client(processes.address, set_as_default=False) as client:
        before = sum(client.run(programs).values())
    there, here = (
        table(
            "cells",
            cells,
            Bench(folder=tmp_path / str(on), profile="quick", on=on),
            stop=1e-4,
            limit=400,
        )
        for on in (processes.address, None)
    )
    assert there.sizes["cell"] == 6 and there.identical(here)
    with distributed.Client(processes.address, set_as_default=False) as client:
        assert sum(client.run(programs).values()) > before


def test_workers_killed_at_random(processes, straight, tmp_path):
    draw = __import__("random").Random("workers")
    killed, before = [], {}

    def kill():
        with distributed.Client(processes.address, set_as_default=False) as client:
            for moment in (4, 12):
                wait_until(lambda moment=moment: len(stored(tmp_path)) >= moment)
                pids = sorted(client.run(os.getpid).values())
                os.kill(draw.choice(pids), signal.SIGKILL)
                killed.append(len(stored(tmp_path)))
                before.update(stored(tmp_path))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    result = faulty.swept(tmp_path, processes.address)
    killer.join(timeout=60)
    assert len(killed) == 2 and all(0 < count < CHUNKS for count in killed)
    assert straight.identical(result)
    now = stored(tmp_path)
    assert len(now) == CHUNKS and before.items() <= now.items()  # none stored twice


def test_the_client_killed(processes, straight, tmp_path):
    folder = tmp_path / "sweep"
    client = subprocess.Popen(
        [sys.executable, "-W", "ignore", faulty.__file__, processes.address, str(folder)]
    )
    wait_until(lambda: len(stored(folder)) >= 3)
    client.send_signal(signal.SIGKILL)
    client.wait()
    before = stored(folder)
    assert 3 <= len(before) < CHUNKS
    assert straight.identical(faulty.swept(folder, processes.address))
    assert before.items() <= stored(folder).items()


def test_a_full_disk(processes, straight, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no right to mount a small disk here")
    try:
        folder = disk / "sweep"
        with pytest.raises(OSError, match="could not be stored") as caught:
            faulty.swept(folder, processes.address)
        assert caught.value.errno == errno.ENOSPC
        before = stored(folder)
        assert 0 < len(before) < CHUNKS
        more = ["mount", "-o", "remount,size=4m", str(disk)]
        subprocess.run(more, check=True)
        assert straight.identical(faulty.swept(folder, processes.address))
        assert before.items() <= stored(folder).items()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_lane_that_fails_says_so(processes):
    def lane(point, key, data):
        raise ValueError("this lane cannot be")

    with pytest.raises(ValueError, match="this lane cannot be"):
        sweeps.sweep(lane, {"x": [1.0]}, on=processes.address)
