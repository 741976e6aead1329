"""One drawn cell of every kind that is linear in its own state."""

import jax.numpy as jnp
import jax.random as jr

from remanence.cells import (
    DeltaRule,
    GatedDelta,
    GLA,
    Heads,
    LinearRecurrence,
    Mamba,
    Mamba2,
    MinGRU,
    MinLSTM,
    MLSTM,
    RetNet,
    RGLRU,
    RWKV4,
    RWKV6,
)


HEADS = Heads(2, 3, 2)


def mamba(key, eps=None):
    draw = lambda i, *shape: 0.5 * jr.normal(jr.fold_in(key, i), shape)
    return Mamba(draw(0, 4, 3), draw(1, 4), draw(2, 2 + 6, 4), draw(3, 4, 2), draw(4, 4), eps)


def mamba2(key):
    draw = lambda i: 0.5 * jr.normal(jr.fold_in(key, i), (4,))
    return Mamba2(draw(0), draw(1), draw(2), size=2, states=3, groups=2)


def rglru(key):
    draw = lambda i, *shape: 0.5 * jr.normal(jr.fold_in(key, i), shape)
    return RGLRU(draw(0, 6) - 2, draw(1, 2, 3, 3), draw(2, 2, 3), draw(3, 2, 3, 3), draw(4, 2, 3))


GATES = {
    "mamba": mamba,
    "falcon mamba": lambda key: mamba(key, 1e-6),
    "mamba2": mamba2,
    "rg-lru": rglru,
    "mingru": lambda key: MinGRU(3),
    "minlstm": lambda key: MinLSTM(3),
    "gla": lambda key: GLA(HEADS),
    "retnet": lambda key: RetNet(HEADS, jnp.array([0.5, 0.9])),
    "rwkv4": lambda key: RWKV4(*jr.normal(key, (2, 3))),
    "rwkv5": lambda key: RWKV6(HEADS, *jr.normal(key, (2, 2, 3))),
    "rwkv6": lambda key: RWKV6(HEADS, jr.normal(key, (2, 3))),
    "mlstm": lambda key: MLSTM(HEADS),
}
DELTA = {
    "deltanet": lambda key: GatedDelta(HEADS),
    "gated deltanet": lambda key: GatedDelta(HEADS, *jr.normal(key, (2, 2, 1))),
    "kda": lambda key: GatedDelta(HEADS, *jr.normal(key, (2, 2, 3))),
}


def recurrences():
    """Functions of a key that give a cell hearing five numbers."""
    cells = {
        name: (lambda key, gates=gates: LinearRecurrence.init(gates(key), 5, key=key))
        for name, gates in GATES.items()
    }
    cells |= {
        name: (lambda key, gates=gates: DeltaRule.init(gates(key), 5, key=key))
        for name, gates in DELTA.items()
    }
    return cells
