"""Real faults on a real cluster of processes on this machine: nothing lost, same bits.

Two worker processes on loopback; everything stops by itself, even if the tests die.
"""

import errno
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import jax
import numpy as np
import pytest


distributed = pytest.importorskip("distributed")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import faulty  # noqa: E402

from remanence import sweeps  # noqa: E402
from remanence.sweeps import cluster  # noqa: E402
from remanence.sweeps.executor import Work  # noqa: E402
from remanence.sweeps.grid import grid  # noqa: E402


PATIENCE = 120.0
CHUNKS = 32


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


class Processes:
    """A scheduler and its workers."""

    def __init__(self, folder, workers=2, env=None):
        self.started = []
        where = folder / "scheduler.json"
        self.start(
            "dask_scheduler",
            *("--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
            *("--scheduler-file", str(where), "--idle-timeout", "300"),
        )
        wait_until(where.exists)
        self.address = __import__("json").loads(where.read_text())["address"]
        self.start(
            "dask_worker",
            self.address,
            *("--nworkers", str(workers), "--nthreads", "1", "--no-dashboard"),
            *("--host", "127.0.0.1", "--death-timeout", "60"),
            *("--local-directory", str(folder)),
            env=env,
        )

    def start(self, what, *arguments, env=None):
        command = [sys.executable, "-W", "ignore", "-m", f"distributed.cli.{what}"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        env = os.environ | {"OMP_NUM_THREADS": "1"} | (env or {})
        self.started.append(subprocess.Popen([*command, *arguments], env=env, **quiet))

    def kill_scheduler(self):
        self.started[0].kill()

    def stop(self):
        for process in self.started[::-1]:
            process.terminate()
        for process in self.started:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    running = Processes(tmp_path_factory.mktemp("cluster"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def straight():
    return faulty.swept()


def stored(folder):
    return {
        path.name: path.stat().st_mtime_ns
        for path in folder.glob("chunk-*.safetensors")
    }


def test_the_same_bits_as_here_and_one_program_a_worker(processes, straight):
    assert straight.identical(faulty.swept(on=processes.address))
    with distributed.Client(processes.address, set_as_default=False) as client:
        made = client.run(
            lambda: len(sys.modules["remanence.sweeps.cluster"]._PROGRAMS)
        )
        assert len(made) == 2 and set(made.values()) <= {0, 1} and sum(made.values())
        # A client or a cluster object serves as well as an address.
        again = sweeps.sweep(double, {"x": [1.0, 2.0]}, on=client, x64=True)
        assert again.third.values.tolist() == [1 / 3, 2 / 3]
    assert np.isnan(straight.log).any() and not np.isnan(straight.log).all()


def double(point, key, data):
    return {"third": point["x"] / 3}


def test_workers_killed_at_random(processes, straight, tmp_path):
    draw = __import__("random").Random("workers")
    killed, before = [], {}

    def kill():
        with distributed.Client(processes.address, set_as_default=False) as client:
            for moment in (4, 10, 18):
                wait_until(lambda moment=moment: len(stored(tmp_path)) >= moment)
                pids = sorted(client.run(os.getpid).values())
                os.kill(draw.choice(pids), signal.SIGKILL)
                killed.append(len(stored(tmp_path)))
                before.update(stored(tmp_path))

    killer = threading.Thread(target=kill)
    killer.start()
    result = faulty.swept(tmp_path, processes.address)
    killer.join()
    assert len(killed) == 3 and sum(0 < count < CHUNKS for count in killed) >= 2
    assert straight.identical(result)
    now = stored(tmp_path)
    assert len(now) == CHUNKS and before.items() <= now.items()  # none stored twice


def test_the_client_killed(processes, straight, tmp_path):
    folder = tmp_path / "sweep"
    client = subprocess.Popen(
        [
            sys.executable,
            "-W",
            "ignore",
            faulty.__file__,
            processes.address,
            str(folder),
        ]
    )
    wait_until(lambda: len(stored(folder)) >= 3)
    client.send_signal(signal.SIGKILL)
    client.wait()
    before = stored(folder)
    assert 3 <= len(before) < CHUNKS
    assert straight.identical(faulty.swept(folder, processes.address))
    assert before.items() <= stored(folder).items()


def test_a_chunk_that_hangs_is_given_up_by_name(processes, tmp_path):
    flag, folder = tmp_path / "hang", tmp_path / "sweep"
    flag.touch()
    settings = {"chunk": 1, "folder": folder, "on": processes.address}
    lane, axes = faulty.sleepy(str(flag)), {"x": [1.0, 2.0, 3.0, 1.5]}
    sentence = "chunk-000002 did not end within 6 s: 3 of 4 lanes are stored"
    with pytest.raises(sweeps.Unfinished, match=sentence):
        sweeps.sweep(lane, axes, chunk_limit=6.0, **settings)
    before = stored(folder)
    assert sorted(before) == [f"chunk-00000{i}.safetensors" for i in (0, 1, 3)]
    flag.unlink()
    result = sweeps.sweep(lane, axes, chunk_limit=60.0, **settings)
    assert result.same.values.tolist() == axes["x"]
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


def test_the_scheduler_killed_and_the_sweep_continued_without_it(straight, tmp_path):
    """And first, a worker with another version of the package is refused."""
    source = pathlib.Path(cluster.__file__).parents[1]
    other = tmp_path / "other" / "remanence"
    shutil.copytree(source, other, ignore=shutil.ignore_patterns("__pycache__"))
    opening = other / "__init__.py"
    opening.write_text(
        opening.read_text().replace('__version__ = "', '__version__ = "9.')
    )
    there = Processes(tmp_path, workers=1, env={"PYTHONPATH": str(other.parent)})
    try:
        refusal = r"worker tcp://\S+ has remanence 9\.\S+, but \S+ is wanted"
        with pytest.raises(ValueError, match=refusal):
            faulty.swept(tmp_path / "refused", there.address)
        assert not (tmp_path / "refused").exists()
    finally:
        there.started[-1].terminate()
        there.started.pop().wait()
    there.start(
        "dask_worker",
        there.address,
        *("--nworkers", "1", "--nthreads", "1", "--no-dashboard"),
        *("--host", "127.0.0.1", "--death-timeout", "20"),
        *("--local-directory", str(tmp_path)),
    )
    folder = tmp_path / "sweep"
    try:
        killer = threading.Thread(
            target=lambda: (
                wait_until(lambda: len(stored(folder)) >= 3),
                there.kill_scheduler(),
            )
        )
        killer.start()
        with pytest.raises(
            sweeps.Unfinished, match=r"is gone.*the same call continues"
        ):
            faulty.swept(folder, there.address)
        killer.join()
    finally:
        there.stop()
    before = stored(folder)
    assert 3 <= len(before) < CHUNKS
    assert straight.identical(faulty.swept(folder))
    assert before.items() <= stored(folder).items()


def test_a_worker_that_joins_later_is_held_to_the_same_environment():
    work = Work(grid({"x": [1.0]}, static=(), chunk=1, seed=0), double, None, False)
    payload = cluster._packed(work)
    here = cluster._environment_there(payload)
    part = work.grid.parts[0]
    assert cluster._task(payload, part, here, None)["third"].shape == (1,)
    cluster._PROGRAMS.clear()
    with pytest.raises(ValueError, match="another code, so its bits could differ"):
        cluster._task(payload, part, here | {"code": "other"}, None)
    older = here | {"versions": here["versions"] | {"jax": "0.1"}}
    with pytest.raises(
        ValueError, match=rf"has jax {jax.__version__}, but 0.1 is wanted"
    ):
        cluster._task(payload, part, older, None)


def test_nobody_at_the_address(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 1.0)
    with pytest.raises(
        ValueError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"
    ):
        faulty.swept(on="tcp://127.0.0.1:9")
