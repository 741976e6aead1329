"""A small sweep of drawn numbers, half of whose logarithms are NaN."""

import jax.numpy as jnp
import jax.random as jr

from remanence.sweeps.local import Local


COMPUTED = Local.compute


AXES = {"a": [1.0, 2.0, 3.0], "b": [10.0, 20.0], "seed": range(3)}


def drawn(point, key, data):
    x = point["a"] * jr.normal(key, (5,))
    return {"x": x, "log": jnp.log(x.sum())}
