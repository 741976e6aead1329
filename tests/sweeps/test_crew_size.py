"""How many processes a sweep gets beside it: none where none would help."""

import pathlib

import pytest

from remanence import _cores, sweeps
from remanence.sweeps import crew
from remanence.sweeps.executor import Work
from remanence.sweeps.grid import grid


def considered(seconds, busy, waiting, *, limit=None):
    plan = grid({"x": [1.0]}, static=(), chunk=1, seed=0)
    lane = lambda point, key, data: {}
    several = crew.Crew(Work(plan, lane, None, False), limit)
    several.consider(seconds, busy, waiting)
    several.end()
    return several.asked


def test_helpers_come_only_where_they_save_time(monkeypatch):
    monkeypatch.setattr(crew, "cores", lambda: (0, 1, 2, 3))
    monkeypatch.setattr(crew, "Helper", lambda *told: subprocess_like())
    monkeypatch.setattr(crew, "_affordable", lambda: 4)
    assert considered(5.0, 1.0, 10)
    assert considered(5.0, 1.9, 10)
    assert not considered(5.0, 3.8, 10)  # XLA uses the cores by itself
    assert not considered(0.01, 1.0, 100)  # done before they have started
    assert not considered(5.0, 1.0, 1)  # nothing to share
    assert not considered(5.0, 1.0, 10, limit=1)
    monkeypatch.setattr(crew, "_affordable", lambda: 0)
    assert not considered(5.0, 1.0, 10)  # no memory for another one


class subprocess_like:
    def end(self):
        pass


def test_studies_side_by_side_have_one_core_each(monkeypatch):
    everything = _cores.cores()
    monkeypatch.setenv(_cores.ENOUGH, "1")
    assert _cores.cores() == everything[:1]
    monkeypatch.setenv(_cores.ENOUGH, "several")
    assert _cores.cores() == everything


def test_cores_are_counted_from_one():
    with pytest.raises(ValueError, match="cores must be a whole number from 1 on"):
        sweeps.sweep(lambda point, key, data: {}, {"x": [1.0]}, cores=0)


@pytest.mark.skipif(not pathlib.Path("/proc/meminfo").exists(), reason="no /proc")
def test_half_of_the_memory_is_shared_by_processes_of_this_size():
    def number(file, name):
        lines = pathlib.Path(file).read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name))

    free, held = (
        number("/proc/meminfo", "MemAvailable"),
        number("/proc/self/status", "VmRSS"),
    )
    assert crew._affordable() == pytest.approx(free / (2 * held), rel=0.2, abs=1.0)
