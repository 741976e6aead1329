"""Drawn runs on pairs of languages, and their training written out with optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

from remanence.subjects.shared_representations.gated_linear import GatedLinear
from remanence.subjects.shared_representations.language_pairs import nested_pairs
from remanence.subjects.shared_representations.pair_training import PairRun


def drawn(key, fraction=0.45, languages=4, words=3, units=3, scale=0.1):
    net = GatedLinear.init(languages=languages, words=words, units=units, scale=scale, key=key)
    return PairRun(net, nested_pairs(languages, fraction, key=key))


def by_optax(run, mask, *, steps):
    """The network after steps of momentum on the loss as it is written."""
    with jax.enable_x64(True):
        params = jax.tree.map(lambda a: jnp.asarray(np.asarray(a, float)), run.net)
        T = jnp.asarray(run.T)
        eye = jnp.eye(run.net.sizes[1])

        def loss(net):
            M = T[:, :, None, None] * (eye if mask == "diagonal" else 1.0)
            return jnp.sum(((net.products() - eye) * M) ** 2) / jnp.sum(T)

        optimizer = optax.sgd(5e-3, momentum=0.9)

        @jax.jit
        def step(params, state):
            updates, state = optimizer.update(jax.grad(loss)(params), state)
            return optax.apply_updates(params, updates), state

        state = optimizer.init(params)
        for _ in range(steps):
            params, state = step(params, state)
        return jax.tree.map(np.asarray, params)
