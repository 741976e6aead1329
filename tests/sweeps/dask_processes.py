"""A scheduler and workers as processes on loopback; they stop by themselves."""

import json
import os
import subprocess
import sys
import time


PATIENCE = 120.0
CHUNKS = 32


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def _written(where):
    """What the scheduler says of itself, once it has said all of it."""
    try:
        return json.loads(where.read_text())
    except (OSError, ValueError):
        return None


class Processes:
    """A scheduler and its workers."""

    def __init__(self, folder, workers=2, env=None, nanny=True):
        self.started, self.folder = [], folder
        where = folder / "scheduler.json"
        self.start(
            "dask_scheduler",
            *("--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
            *("--scheduler-file", str(where), "--idle-timeout", "300"),
        )
        try:
            wait_until(lambda: _written(where))
        except BaseException:
            self.stop()
            raise
        self.address = _written(where)["address"]
        if workers:
            self.join(workers, env=env, nanny=nanny)

    def join(self, workers=1, *, env=None, nanny=True):
        """Start workers; without a nanny a killed one stays dead."""
        self.start(
            "dask_worker",
            self.address,
            *("--nworkers", str(workers), "--nthreads", "1", "--no-dashboard"),
            *("--host", "127.0.0.1", "--death-timeout", "60"),
            *("--local-directory", str(self.folder)),
            *(() if nanny else ("--no-nanny",)),
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


def stored(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("chunk-*.safetensors")}
