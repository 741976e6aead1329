"""Processes beside a sweep: the same bits, and nothing lost."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence import sweeps
from remanence.sweeps import crew


HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import hired  # noqa: E402


PATIENCE = 120.0


@pytest.fixture
def helpers(monkeypatch):
    """Two helpers, whatever they save; all that were started."""
    started = []

    class Watched(crew.Helper):
        def __init__(self, *told):
            super().__init__(*told)
            self.given, self.done = [], 0
            started.append(self)

        def __call__(self, program, *arguments):
            self.given.append(arguments)
            try:
                return super().__call__(program, *arguments)
            finally:
                self.done += 1

    monkeypatch.setattr(crew, "Helper", Watched)
    monkeypatch.setattr(crew, "WORTH", 0.0)
    monkeypatch.setattr(crew, "cores", lambda: (0, 1))
    # A process of tests grows by every program that it compiles.
    monkeypatch.setattr(crew, "_affordable", lambda: 2)
    return started


@pytest.fixture(scope="module")
def straight():
    return hired.swept(cores=1)


def ended(process):
    end = time.monotonic() + PATIENCE
    while process.poll() is None:
        assert time.monotonic() < end, "a helper outlives its sweep"
        time.sleep(0.01)
    return True


def test_the_same_bits_by_helpers_as_alone(helpers, straight, tmp_path):
    found = hired.swept(tmp_path)
    assert len(helpers) == 2
    assert all(helper.given for helper in helpers)
    assert straight.identical(found)
    assert len(list(tmp_path.glob("chunk-*"))) == hired.CHUNKS
    assert all(ended(helper.process) for helper in helpers)


def test_a_helper_killed_in_the_middle_takes_nothing_with_it(
    helpers, straight, tmp_path, monkeypatch
):
    def killed(self, program, *arguments, ask=crew.Helper.__call__):
        if self is helpers[0] and self.done:
            os.kill(
                self.process.pid, signal.SIGSTOP
            )  # so that it has the order in hand
            threading.Timer(0.2, self.process.kill).start()
        return ask(self, program, *arguments)

    monkeypatch.setattr(crew.Helper, "__call__", killed)
    found = hired.swept(tmp_path)
    assert helpers[0].process.wait() == -signal.SIGKILL
    assert straight.identical(found)
    assert len(list(tmp_path.glob("chunk-*"))) == hired.CHUNKS


def test_a_sweep_that_is_killed_leaves_no_helper_behind(tmp_path):
    told = subprocess.Popen(
        [sys.executable, "-W", "ignore", hired.__file__],
        stdout=subprocess.PIPE,
        text=True,
    )
    rescue = threading.Timer(PATIENCE, told.kill)
    rescue.start()
    helper = int(told.stdout.readline())
    rescue.cancel()
    os.kill(helper, 0)  # it is there
    told.kill()
    told.wait()
    told.stdout.close()
    end = time.monotonic() + PATIENCE
    while pathlib.Path(f"/proc/{helper}").exists():
        state = pathlib.Path(f"/proc/{helper}/stat").read_text().split()[2]
        if state == "Z":  # ended; nobody has asked how
            break
        assert time.monotonic() < end, "a helper outlives its sweep"
        time.sleep(0.05)


def test_a_script_needs_no_guard_and_is_not_run_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import jax.numpy as jnp\n"
        "from remanence.sweeps import crew, sweep\n"
        "print('begun')\n"
        "crew.WORTH, crew.cores = 0.0, lambda: (0, 1)\n"
        "def lane(point, key, data):\n"
        "    return {'cube': point['x'] ** 3 + data['one'] + helped(point['x'])}\n"
        "def helped(x):\n"
        "    return 0 * x\n"
        "axes = {'x': [float(i) for i in range(40)]}\n"
        "found = sweep(lane, axes, chunk=1, data={'one': jnp.ones(()), 'word': 'w'})\n"
        "print(float(found.cube.sum()))\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert run.stdout.split() == [
        "begun",
        str(float(sum(i**3 for i in range(40)) + 40)),
    ]


CACHED = """
from remanence.sweeps import crew
import hired

class Counted(crew.Helper):
    answers = 0
    def __call__(self, *asked):
        answer = super().__call__(*asked)
        Counted.answers += 1
        return answer

crew.WORTH, crew.Helper, crew.cores = 0.0, Counted, lambda: (0, 1)
found = hired.swept()
print(Counted.answers, float(found["mean"].sum()))
"""


def test_programs_out_of_the_cache_on_disk_are_sent_too(straight, tmp_path):
    env = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
        "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
    }
    for _ in range(2):  # the second time it is all in the cache
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", CACHED],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=env,
        )
        answers, total = run.stdout.split()
        assert int(answers) == hired.CHUNKS - 1
        assert float(total) == float(straight["mean"].sum())
    assert any((tmp_path / "cache").iterdir())


def called_back(x):
    return jax.pure_callback(lambda x: x, x, x, vmap_method="sequential")


def told(x):
    jax.debug.callback(lambda x: None, x)
    return x


@pytest.mark.parametrize("through", [called_back, told])
def test_what_cannot_be_sent_is_computed_here(helpers, through):
    lane = lambda point, key, data: {"same": through(point["x"])}

    found = sweeps.sweep(lane, {"x": [float(i) for i in range(12)]}, chunk=1)
    assert found.same.values.tolist() == list(range(12))
    assert helpers and all(ended(helper.process) for helper in helpers)


def test_keys_among_the_data_keep_the_work_here(helpers):
    lane = lambda point, key, data: {"sum": point["x"] + jr.uniform(data)}
    found = sweeps.sweep(lane, {"x": [0.0, 1.0, 2.0, 3.0]}, chunk=1, data=jr.key(3))
    np.testing.assert_array_equal(
        found["sum"], np.arange(4.0, dtype=np.float32) + jr.uniform(jr.key(3))
    )
    assert not helpers


def test_double_precision_and_factorisations_beside(helpers):
    def lane(point, key, data):
        A = jr.normal(key, (6, 6)) + point["x"] * data
        return {"values": jnp.linalg.eigvals(A).real, "R": jnp.linalg.qr(A)[1]}

    axes = {"x": [0.1 * i for i in range(30)]}
    found = sweeps.sweep(lane, axes, chunk=1, x64=True, data=np.eye(6))
    assert found.R.dtype == np.float64
    assert sum(len(helper.given) for helper in helpers) > 0
    assert found.identical(
        sweeps.sweep(lane, axes, chunk=1, x64=True, data=np.eye(6), cores=1)
    )
