"""All cores for small lanes: a process each, beside this one.

XLA spreads large products over all cores by itself. Chunks of small lanes keep one core
busy, and two programs at a time in threads of one process were seen to wait for each
other for ever. So, once a chunk has shown that it leaves cores idle and that there is
enough to do, each core gets a process (`helper.py`); this one then traces, compiles,
stores and computes nothing.
"""

import contextlib
import math
import pathlib
import resource
import subprocess
import sys
from typing import Any

import jax
import numpy as np

from .._cores import cores
from .helper import put, taken


WORTH = 10.0
"""Seconds that helpers must save: a few are lost until they have started."""


class Gone(RuntimeError):
    """A helper has ended, or cannot take a program; its chunk is still to be computed."""


class Helper:
    """A process beside this one, spoken to from one thread at a time."""

    def __init__(self, x64: bool, data: list[np.ndarray]):
        # A program of its own: a fork would not survive XLA's threads, and Python's
        # `spawn` runs a user's script again. Ctrl-C reaches it through our end only.
        start = "import sys; sys.path[:] = sys.argv[1:]; "
        start += "from remanence.sweeps.helper import serve; serve()"
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", start, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        self.first: Any = ("data", x64, data)
        self.known: list[int] = []

    def __call__(self, program: Any, *arguments: Any) -> dict[str, np.ndarray]:
        """The arrays of a chunk, padding and all; nothing of JAX is called here."""
        orders, answers = self.process.stdin, self.process.stdout
        assert orders is not None and answers is not None
        try:
            if self.first is not None:
                put(orders, self.first)
                self.first = None
            if program.number not in self.known:
                put(orders, ("program", program.number, program.machine_code()))
                self.known.append(program.number)
            put(orders, ("part", program.number, *arguments))
            return taken(answers)
        except (OSError, EOFError, ValueError) as error:
            raise Gone from error

    def end(self) -> None:
        """Stop it, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # an order that nobody reads any more
                pipe.close()


class Crew:
    """The helpers of one sweep: none at first, and none where none would help."""

    def __init__(self, work: Any, limit: int | None = None):
        available = len(cores())
        self.cores = available if limit is None else min(available, limit)
        self.work = work
        self.helpers: list[Helper] = []
        self.asked = False

    def consider(self, seconds: float, busy: float, waiting: int) -> None:
        """Start helpers, once, if `waiting` chunks of so many seconds are worth it.

        `busy` is how many cores a chunk keeps busy by itself.
        """
        if self.asked or jax.default_backend() != "cpu":
            return
        hands = min(self.cores // max(1, round(busy)), waiting, _affordable())
        if hands < 2 or waiting * seconds * (1 - 1 / hands) < WORTH:
            return
        self.asked = True
        leaves = self.work.leaves()
        if not all(isinstance(leaf, np.ndarray) for leaf in leaves):
            return
        self.helpers = [Helper(self.work.x64, leaves) for _ in range(hands)]

    def drop(self, helper: Helper) -> None:
        """Go on without a helper that is gone."""
        self.helpers.remove(helper)
        helper.end()

    def end(self) -> None:
        """Stop them all."""
        while self.helpers:
            self.helpers.pop().end()


def _affordable() -> int:
    """How many processes as large as this one fit into half of the memory."""
    info, here = pathlib.Path("/proc/meminfo"), pathlib.Path("/proc/self/statm")
    if not (info.is_file() and here.is_file()):
        return sys.maxsize
    free = next(
        line.split()[1]
        for line in info.read_text().splitlines()
        if line.startswith("MemAvailable")
    )
    # Not the largest that it was: that is handed down by whoever started it.
    resident = int(here.read_text().split()[1]) * resource.getpagesize()
    return math.floor(1024 * int(free) / (2 * resident))
