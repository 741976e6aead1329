"""A sweep of small lanes that helpers take part in; as a script it names one and goes on."""

import sys

import jax
import jax.numpy as jnp
import jax.random as jr

from remanence import sweeps
from remanence.sweeps import crew


CHUNKS = 24


def lane(point, key, data):
    """Chaotic enough that any slip in the key or the batch is seen."""
    W = point["gain"] * jr.normal(key, (point["units"], point["units"]))
    h = jnp.broadcast_to(data["h"], W.shape[:1])
    h = jax.lax.fori_loop(0, 20_000, lambda _, h: jnp.tanh(W @ h), h)
    return {"state": h[:8], "mean": h.mean()}


def swept(folder=None, **options):
    axes = {"units": [16, 24], "gain": [0.5 + i / 8 for i in range(12)], "seed": [1, 2]}
    data = {"h": jnp.ones(()), "name": "not an array"}
    return sweeps.sweep(
        lane, axes, chunk=2, static=("units",), data=data, folder=folder, **options
    )


class Named(crew.Helper):
    def __call__(self, program, *arguments):
        answer = super().__call__(program, *arguments)
        sys.stdout.write(f"{self.process.pid}\n")
        sys.stdout.flush()
        return answer


if __name__ == "__main__":
    crew.WORTH, crew.Helper, crew.cores = 0.0, Named, lambda: (0, 1)
    while True:
        swept()
