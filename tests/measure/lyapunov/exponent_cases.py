"""Networks that several tests of exponents share, and their Jacobians."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from remanence._precision import double
from remanence.cells import Elman, jacobian, Linear
from remanence.nets import unroll


def linear(W):
    with double():
        return Linear(jnp.asarray(W, jnp.float64), jnp.zeros((W.shape[0], 1)))


def tanh_net(units=12, *, gain=1.2, seed=0, steps=600, inputs=2):
    key_cell, key_x = jr.split(jr.key(seed))
    cell = Elman.init(inputs, units, key=key_cell, gain=gain)
    return cell, np.asarray(jr.normal(key_x, (steps, inputs)))


def jacobians(cell, xs):
    """The Jacobian of every step from the cell's own initial state."""
    return np.asarray(_jacobians(cell, xs))


@eqx.filter_jit
def _jacobians(cell, xs):
    h0 = cell.initial_state()
    shift = lambda first, rest: jnp.concatenate([first[None], rest[:-1]])
    before = jax.tree.map(shift, h0, unroll(cell, h0, xs))
    return jax.vmap(jacobian, in_axes=(None, 0, 0))(cell, before, xs)
