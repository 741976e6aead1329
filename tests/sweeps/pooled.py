"""A sweep of small lanes that worker processes take part in; as a script it goes on."""

import os
import sys

import jax
import jax.numpy as jnp
import jax.random as jr

from remanence import sweeps
from remanence.sweeps import local


CHUNKS = 24


def lane(point, key, data):
    """Chaotic enough that any slip in the key or the batch is seen."""
    W = point["gain"] * jr.normal(key, (point["units"], point["units"]))
    h = jnp.broadcast_to(data["h"], W.shape[:1])
    h = jax.lax.fori_loop(0, 2_000, lambda _, h: jnp.tanh(W @ h), h)
    return {"state": h[:8], "mean": h.mean()}


def swept(folder=None, **options):
    axes = {"units": [16, 24], "gain": [0.5 + i / 8 for i in range(12)], "seed": [1, 2]}
    data = {"h": jnp.ones(()), "name": "not an array"}
    return sweeps.sweep(lane, axes, chunk=2, static=("units",), data=data, folder=folder, **options)


def workers_of(pid):
    """The processes that Python's `spawn` started for a process."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                with open(f"/proc/{entry.name}/stat") as stat:  # noqa: PTH123
                    fields = stat.read().rpartition(")")[2].split()
                with open(f"/proc/{entry.name}/cmdline") as words:  # noqa: PTH123
                    spawned = "spawn_main" in words.read()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z" and spawned:
                found.append(int(entry.name))
    return found


if __name__ == "__main__":
    local.WORTH, local.cores = 0.0, lambda: (0, 1)
    while True:
        swept()
        sys.stdout.write(" ".join(map(str, workers_of(os.getpid()))) + "\n")
        sys.stdout.flush()
