"""Worker processes beside a sweep: the same bits, and nothing lost."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence import _cores, sweeps
from remanence.sweeps import local
from remanence.sweeps.pool import WorkerPool


HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import pooled  # noqa: E402


PATIENCE = 120.0


@pytest.fixture
def pools(monkeypatch):
    """Two workers, whatever they save; every pool that was made, with what it was given."""
    made = []

    class Watched(WorkerPool):
        def __init__(self, *asked, **options):
            super().__init__(*asked, **options)
            self.given = 0
            made.append(self)

        def submit(self, function, *arguments):
            self.given += 1
            return super().submit(function, *arguments)

    monkeypatch.setattr(local, "WorkerPool", Watched)
    monkeypatch.setattr(local, "WORTH", 0.0)
    monkeypatch.setattr(local, "cores", lambda: (0, 1))
    # A process of tests grows by every program that it compiles.
    monkeypatch.setattr(local, "_affordable", lambda: 2)
    return made


def gone(pid):
    end = time.monotonic() + PATIENCE
    while pathlib.Path(f"/proc/{pid}").exists():
        if pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            break
        assert time.monotonic() < end, "a worker outlives its sweep"
        time.sleep(0.05)
    return True


def test_the_same_bits_by_workers_as_alone_and_after_a_killed_worker(pools, tmp_path):
    others = set(pooled.workers_of(os.getpid()))  # of tests that ran before
    workers = lambda: [pid for pid in pooled.workers_of(os.getpid()) if pid not in others]
    straight = pooled.swept(cores=1)
    assert not pools
    assert straight.identical(pooled.swept(tmp_path / "whole"))
    assert pools[0].given == pooled.CHUNKS - 1
    assert len(list((tmp_path / "whole").glob("chunk-*"))) == pooled.CHUNKS
    assert all(gone(pid) for pid in workers())

    class Killed(WorkerPool):
        def submit(self, function, *arguments):
            future = super().submit(function, *arguments)
            for pid in workers()[:1]:
                os.kill(pid, signal.SIGKILL)
            return future

    local.WorkerPool = Killed
    assert straight.identical(pooled.swept(tmp_path / "hurt"))
    assert len(list((tmp_path / "hurt").glob("chunk-*"))) == pooled.CHUNKS


def test_a_sweep_that_is_killed_leaves_no_worker_behind():
    sweep = subprocess.Popen(
        [sys.executable, "-W", "ignore", pooled.__file__], stdout=subprocess.PIPE
    )
    end = time.monotonic() + PATIENCE
    while not (workers := pooled.workers_of(sweep.pid)):
        assert time.monotonic() < end and sweep.poll() is None
        time.sleep(0.05)
    sweep.kill()
    sweep.wait()
    sweep.stdout.close()
    assert all(gone(worker) for worker in workers)


def test_a_script_needs_no_guard_and_is_not_run_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import jax.numpy as jnp\n"
        "from remanence.sweeps import local, sweep\n"
        "print('begun')\n"
        "local.WORTH, local.cores = 0.0, lambda: (0, 1)\n"
        "def lane(point, key, data):\n"
        "    return {'cube': point['x'] ** 3 + data['one'] + helped(point['x'])}\n"
        "def helped(x):\n"
        "    return 0 * x\n"
        "axes = {'x': [float(i) for i in range(12)]}\n"
        "found = sweep(lane, axes, chunk=1, data={'one': jnp.ones(()), 'word': 'w'})\n"
        "print(float(found.cube.sum()))\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    total = float(sum(i**3 for i in range(12)) + 12)
    assert run.stdout.split() == ["begun", str(total)], run.stderr


def test_keys_callbacks_and_double_precision_beside(pools):
    def lane(point, key, data):
        x = jax.pure_callback(lambda x: x, point["x"], point["x"], vmap_method="sequential")
        A = jr.normal(key, (6, 6)) + x * data["eye"]
        return {"R": jnp.linalg.qr(A)[1], "sum": x + jr.uniform(data["key"])}

    axes = {"x": [0.1 * i for i in range(6)]}
    options = {"chunk": 1, "x64": True, "data": {"eye": np.eye(6), "key": jr.key(3)}}
    found = sweeps.sweep(lane, axes, **options)
    assert found.R.dtype == np.float64
    assert found.identical(sweeps.sweep(lane, axes, cores=1, **options))


def test_workers_come_only_where_they_save_time(monkeypatch):
    monkeypatch.setattr(local, "cores", lambda: (0, 1, 2, 3))
    monkeypatch.setattr(local, "_affordable", lambda: 4)
    assert local.useful_workers(5.0, 1.0, 10, limit=None) == 4
    assert local.useful_workers(5.0, 1.9, 10, limit=None) == 2
    assert not local.useful_workers(5.0, 3.8, 10, limit=None)  # XLA uses the cores
    assert not local.useful_workers(0.01, 1.0, 100, limit=None)  # done before they start
    assert not local.useful_workers(5.0, 1.0, 1, limit=None)  # nothing to share
    assert not local.useful_workers(5.0, 1.0, 10, limit=1)
    monkeypatch.setattr(local, "_affordable", lambda: 0)
    assert not local.useful_workers(5.0, 1.0, 10, limit=None)  # no memory for another


def test_studies_side_by_side_have_one_core_each(monkeypatch):
    everything = _cores.cores()
    monkeypatch.setenv(_cores.ENOUGH, "1")
    assert _cores.cores() == everything[:1]
    monkeypatch.setenv(_cores.ENOUGH, "several")
    assert _cores.cores() == everything


def test_cores_are_counted_from_one():
    with pytest.raises(ValueError, match="cores must be a whole number from 1 on"):
        sweeps.sweep(lambda point, key, data: {}, {"x": [1.0]}, cores=0)


def test_small_lanes_have_the_same_bits_on_one_core_as_on_all():
    if len(_cores.cores()) < 2:
        pytest.skip("this machine has one core")
    code = (
        "import hashlib, os, sys\n"
        f"sys.path.insert(0, {str(HERE)!r})\n"
        "os.sched_setaffinity(0, set(map(int, sys.argv[1].split(','))))\n"
        "import pooled\n"
        "found = pooled.swept(cores=1)\n"
        "print(hashlib.sha256(found.state.values.tobytes()).hexdigest())\n"
    )
    env = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    run = lambda cores: subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, ",".join(map(str, cores))],
        capture_output=True,
        text=True,
        check=True,
        env=env,
    )
    assert run(_cores.cores()[:1]).stdout == run(_cores.cores()).stdout != ""


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_what_stands_in_the_place_of_a_lock_is_refused_unharmed(tmp_path, kind):
    theirs = tmp_path / "theirs"
    theirs.write_text("somebody's")
    (tmp_path / "run").mkdir()
    lock = tmp_path / "run" / ".lock"
    os.mkfifo(lock) if kind == "pipe" else lock.symlink_to(theirs)
    with pytest.raises(ValueError, match=r"\.lock is a"):
        sweeps.sweep(lambda point, key, data: {}, {"x": [1.0]}, folder=tmp_path / "run")
    assert theirs.read_text() == "somebody's"


def test_a_pool_inside_a_worker_leaves_nothing_behind(tmp_path):
    script = tmp_path / "nested.py"
    script.write_text(
        "from remanence.sweeps.pool import WorkerPool\n"
        "def outer():\n"
        "    with WorkerPool(1) as pool:\n"
        "        return pool.submit(len, 'abc').result()\n"
        "if __name__ == '__main__':\n"
        "    with WorkerPool(1, import_script=True) as pool:\n"
        "        print(pool.submit(outer).result())\n"
    )
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("3\n", "")
