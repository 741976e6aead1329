"""Lanes for the cluster, and the command that a killed client runs: `python faulty.py ADDRESS FOLDER`."""

import pathlib
import sys

import jax
import jax.numpy as jnp
import jax.random as jr

from remanence import sweeps


AXES = {"gain": [0.5 + i / 16 for i in range(16)], "seed": range(4)}


def lane(point, key, data):
    """Slow enough to be killed; half of the logarithms are NaN."""
    W = point["gain"] * jr.normal(key, (24, 24))
    h = jax.lax.fori_loop(0, 20_000, lambda _, h: jnp.tanh(W @ h), data)
    return {"state": h, "log": jnp.log(h[0])}


def swept(folder=None, on=None, **settings):
    return sweeps.sweep(lane, AXES, chunk=2, data=jnp.ones(24), folder=folder, on=on, **settings)


if __name__ == "__main__":
    swept(pathlib.Path(sys.argv[2]), sys.argv[1])
