"""A cluster that cannot go on, or must not: what is said, and what is kept."""

import os
import pathlib
import shutil
import signal
import sys
import threading
import time

import jax
import pytest


distributed = pytest.importorskip("distributed")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import faulty  # noqa: E402
from dask_processes import CHUNKS, Processes, stored, wait_until  # noqa: E402

from remanence import sweeps  # noqa: E402
from remanence.sweeps import cluster, worker  # noqa: E402
from remanence.sweeps.grid import grid  # noqa: E402
from remanence.sweeps.worker import LostError, Work  # noqa: E402


@pytest.fixture(scope="module")
def straight():
    return faulty.swept()


def test_a_worker_with_another_version_is_refused(tmp_path):
    source = pathlib.Path(cluster.__file__).parents[1]
    other = tmp_path / "other" / "remanence"
    shutil.copytree(source, other, ignore=shutil.ignore_patterns("__pycache__"))
    opening = other / "__init__.py"
    opening.write_text(opening.read_text().replace('__version__ = "', '__version__ = "9.'))
    there = Processes(tmp_path, workers=1, env={"PYTHONPATH": str(other.parent)})
    try:
        refusal = r"worker tcp://\S+ has remanence 9\.\S+, but \S+ is wanted"
        with pytest.raises(ValueError, match=refusal):
            faulty.swept(tmp_path / "refused", there.address)
        assert not (tmp_path / "refused").exists()
    finally:
        there.stop()


def broken_off(folder, there, harm):
    """What a sweep says that is harmed once three of its chunks are stored."""
    killer = threading.Thread(target=lambda: (wait_until(lambda: len(stored(folder)) >= 3), harm()))
    killer.start()
    try:
        with pytest.raises(sweeps.Unfinished, match="the same call continues") as caught:
            faulty.swept(folder, there.address)
    finally:
        killer.join()
        there.stop()
    return str(caught.value)


def test_the_scheduler_killed_and_the_sweep_continued_without_it(straight, tmp_path):
    there = Processes(tmp_path, workers=1)
    folder = tmp_path / "sweep"
    assert "is gone" in broken_off(folder, there, there.kill_scheduler)
    before = stored(folder)
    assert 3 <= len(before) < CHUNKS
    assert straight.identical(faulty.swept(folder))
    assert before.items() <= stored(folder).items()


def test_the_only_worker_killed_in_mid_sweep_and_started_again(straight, tmp_path):
    """What it held in memory is gone with it; the scheduler makes all of it again."""
    there = Processes(tmp_path, workers=1)
    folder, before = tmp_path / "sweep", {}

    def kill():
        with distributed.Client(there.address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
            (pid,) = client.run(os.getpid).values()
            wait_until(lambda: len(stored(folder)) >= 3)
            os.kill(pid, signal.SIGKILL)
            before.update(stored(folder))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        result = faulty.swept(folder, there.address)
    finally:
        killer.join(timeout=60)
        there.stop()
    assert 3 <= len(before) < CHUNKS  # it died in the middle
    assert straight.identical(result)
    now = stored(folder)
    assert len(now) == CHUNKS and before.items() <= now.items()


def test_when_all_workers_are_dead_nobody_waits_for_ever(tmp_path, monkeypatch):
    there = Processes(tmp_path, workers=1, nanny=False)
    folder = tmp_path / "sweep"
    monkeypatch.setattr(cluster, "ALONE", 2.0)
    # Should it wait for ever, the scheduler's end ends the test.
    rescue = threading.Timer(20.0, there.kill_scheduler)

    def harm():
        there.started[-1].kill()
        rescue.start()

    said = broken_off(folder, there, harm)
    rescue.cancel()
    assert "has had no worker for 2 s: " in said
    assert 3 <= len(stored(folder)) < CHUNKS


def double(point, key, data):
    return {"third": point["x"] / 3}


def test_a_worker_that_joins_later_is_held_to_the_same_environment():
    work = Work(grid({"x": [1.0]}, static=(), chunk=1, seed=0), double, None, False)
    payload = worker.pack(work)
    here = worker.environment_there(payload)
    part = work.grid.parts[0]
    assert worker.task(payload, part, here)["third"].shape == (1,)
    worker._program.cache_clear()
    with pytest.raises(ValueError, match="another code, so its bits could differ"):
        worker.task(payload, part, here | {"code": "other"})
    older = here | {"versions": here["versions"] | {"jax": "0.1"}}
    with pytest.raises(ValueError, match=rf"has jax {jax.__version__}, but 0.1 is wanted"):
        worker.task(payload, part, older)


class Gone:
    """A client whose cluster is no more, and a future that never comes."""

    status = "pending"

    def __init__(self, workers=None, error=TimeoutError):
        self.workers, self.error, self.asked = workers, error, 0

    def nthreads(self):
        self.asked += 1
        assert self.asked < 4, "it is awaited for ever"
        if self.workers is None:
            raise OSError("Timed out trying to connect")
        return self.workers

    def result(self, timeout):
        time.sleep(0.05)
        raise self.error


def awaited(monkeypatch, gone):
    """What is said when a result was announced and then lost."""
    monkeypatch.setattr(cluster, "ALONE", 1.5)
    work = Work(grid({"x": [1.0]}, static=(), chunk=1, seed=0), double, None, False)
    engine = cluster.Cluster(work, "tcp://there", gone)
    with pytest.raises(LostError) as caught:
        engine._result(gone, "chunk")
    return str(caught.value)


def test_a_result_that_died_with_the_last_worker_is_given_up(monkeypatch):
    said = awaited(monkeypatch, Gone(workers={}))
    assert said == "the scheduler at tcp://there has had no worker for 1.5 s"


@pytest.mark.parametrize("error", [TimeoutError, OSError, distributed.CancelledError])
def test_a_result_that_died_with_the_scheduler_is_given_up(monkeypatch, error):
    said = awaited(monkeypatch, Gone(error=error))
    assert said == "the scheduler at tcp://there is gone"


def test_a_worker_with_threads_takes_one_chunk_at_a_time(monkeypatch):
    busy, seen = [], []

    def slow(part):
        busy.append(part)
        seen.append(len(busy))
        time.sleep(0.1)
        busy.pop()
        return {}

    monkeypatch.setattr(worker, "_program", lambda *_: slow)
    plan = grid({"x": [1.0, 2.0, 3.0]}, static=(), chunk=1, seed=0)
    payload = worker.pack(Work(plan, double, None, False))
    tasks = [threading.Thread(target=worker.task, args=(payload, part, {})) for part in plan.parts]
    for one in tasks:
        one.start()
    for one in tasks:
        one.join(timeout=60)
    assert seen == [1, 1, 1]


def test_a_scheduler_without_workers_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "JOIN", 1.0)
    there = Processes(tmp_path, workers=0)
    try:
        with pytest.raises(ValueError, match="no worker has joined the scheduler at"):
            faulty.swept(tmp_path / "sweep", there.address)
        assert not (tmp_path / "sweep").exists()
    finally:
        there.stop()


def test_nobody_at_the_address(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 1.0)
    with pytest.raises(ValueError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        faulty.swept(on="tcp://127.0.0.1:9")
