"""Scoped precision: measurements run in float64 and leave the caller's JAX alone."""

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


Tree = TypeVar("Tree")


def double():
    """A `with` scope in which JAX computes in float64."""
    return jax.enable_x64(True)


def as_double(tree: Tree) -> Tree:
    """The same pytree with its floating arrays in double; use inside `double()`.

    Python numbers stay as they are: they are double already.
    """

    def widened(leaf):
        if not eqx.is_inexact_array(leaf) and not isinstance(leaf, np.inexact):
            return leaf
        wide = jnp.complex128 if jnp.iscomplexobj(leaf) else jnp.float64
        # Not jnp.asarray, which compiles a program for every shape.
        return jax.device_put(np.asarray(leaf, dtype=wide))

    return jax.tree.map(widened, tree)


def as_numpy(tree: Tree) -> Tree:
    """The same pytree with its arrays as NumPy arrays, safe outside any scope."""
    return jax.tree.map(lambda a: np.asarray(a) if eqx.is_array(a) else a, tree)
