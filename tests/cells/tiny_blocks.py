"""A tiny stack of layers of every kind, as one cell."""

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
from linear_recurrences import DELTA, GATES

from remanence.cells import Blocks, DeltaRule, LinearRecurrence
from remanence.cells.layers import AttentionLayer, GatedLayer
from remanence.cells.parts import Convolution, Dense, GatedMLP, LocalAttention, Norm


WIDTH = 4


def layer(gates, key, convolved=False):
    draw = lambda i, *shape: jr.normal(jr.fold_in(key, i), shape) * shape[-1] ** -0.5
    recurrence = (DeltaRule if hasattr(gates, "transition") else LinearRecurrence)(gates)
    state = recurrence.initial_state()
    u = jnp.ones((1, gates.width))
    outputs = eqx.filter_eval_shape(recurrence.along, state, u)[1].shape[1]
    return GatedLayer(
        Norm(jnp.ones(WIDTH)),
        Dense(draw(0, gates.width, WIDTH)),
        recurrence,
        Dense(draw(1, WIDTH, outputs)),
        Convolution(draw(2, gates.width, 3)) if convolved else None,
        Dense(draw(3, outputs, WIDTH)),
    )


def tiny_blocks(name, key, layers=2, convolved=False):
    """A stack whose layers have the named gates, each drawn for itself."""
    kinds = GATES | DELTA
    stack = [
        layer(kinds[name](jr.fold_in(key, i)), jr.fold_in(key, i), convolved) for i in range(layers)
    ]
    return Blocks(tuple(stack), Norm(jnp.ones(WIDTH)), WIDTH)


def griffin(key):
    """Two layers of RG-LRU, and local attention to three inputs."""
    draw = lambda i: Dense(jr.normal(jr.fold_in(key, i), (WIDTH, WIDTH)))
    local = LocalAttention(*map(draw, range(4)), heads=2, window=3, rotated=2)
    attention = AttentionLayer(
        Norm(jnp.ones(WIDTH)), local, GatedMLP(None, *map(draw, range(4, 7)))
    )
    return Blocks((*tiny_blocks("rg-lru", key).layers, attention), None, WIDTH)
