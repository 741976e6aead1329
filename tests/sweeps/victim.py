"""A process that forks runs to be killed: `python victim.py`, one order a line on stdin.

An order is JSON: {"what": "sweep" | "training", "folder": ..., "pause_at": n or null}.
It imports once and forks before JAX starts, so a run costs its compilation only.
The answer to an order is the run's process id, and once it ended, its status.
"""

import json
import os
import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import jax.random as jr
import optax

from remanence import _atomic_write as whole, sweeps, train
from remanence.train import identity


CHUNKS = 40
STEPS, EVERY = 1600, 20


def lane(point, key, data):
    """Slow, and chaotic enough that any slip in the key or the batch is seen."""
    W = point["gain"] * jr.normal(key, (24, 24))
    h = jax.lax.fori_loop(0, 6_000, lambda _, h: jnp.tanh(W @ h), data)
    return {"state": h, "mean": h.mean()}


def swept(folder=None):
    axes = {"gain": [0.5 + i / 64 for i in range(CHUNKS)], "seed": range(4)}
    return sweeps.sweep(lane, axes, chunk=4, data=jnp.ones(24), folder=folder)


def loss(W, drawn, key):
    h = jax.lax.fori_loop(0, 60, lambda _, h: jnp.tanh(h @ W), drawn)
    return ((h - drawn) ** 2).mean() + 1e-3 * jr.normal(key)


def batch(data, step, key):
    return data[jr.randint(key, (16,), 0, data.shape[0])]


def fitted(folder=None):
    W = 0.3 * jr.normal(jr.key(1), (24, 24))
    data = jr.normal(jr.key(2), (64, 24))
    return train.fit(
        W,
        loss,
        optax.adam(1e-3),
        steps=STEPS,
        key=jr.key(3),
        data=data,
        batch=batch,
        metrics=lambda W, data: {"norm": jnp.linalg.norm(W)},
        every=EVERY,
        folder=folder,
    )


def pausing(at, marker):
    count = [0]

    def wait(aside):
        count[0] += 1
        if count[0] == at:
            marker.write_text(aside.name)
            time.sleep(600)

    return wait


def same_code(*parts):
    """Stands in for the hash of the code, so that an edit during the test is not seen."""
    return "the code under test"


def main():
    identity.code_hash = same_code
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            folder = pathlib.Path(order["folder"])
            if order["pause_at"] is not None:
                marker = folder.parent / f"{folder.name}.paused"
                whole.between_write_and_rename = pausing(order["pause_at"], marker)
            (swept if order["what"] == "sweep" else fitted)(folder)
            os._exit(0)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
