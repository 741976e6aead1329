r"""Small recurrent language models to train: embedding, gated layers, a norm and a readout.

They run over a whole text by a parallel scan. Begun as their papers begin them: Mamba with $\Delta$
between 0.001 and 0.1 (Gu and Dao 2023), the RG-LRU with decays between 0.9 and 0.999 (De et al. 2024).
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array

from .._types import Key
from ..cells import Blocks, GLA, Heads, LinearRecurrence, Mamba, MinGRU, MinLSTM, RetNet, RGLRU
from ..cells.layers import GatedLayer
from ..cells.linear_recurrence import AbstractGates
from ..cells.parts import Convolution, Dense, Norm
from .recurrent import Recurrent


TAPS = 4


def mamba_gates(units: int, *, key: Key, states: int = 8) -> Mamba:
    """Decays 1 to `states` in units of a time step that is drawn for each channel."""
    key_dt, key_x, key_w = jr.split(key, 3)
    rank = max(1, units // 32)
    low, high = jnp.log(0.001), jnp.log(0.1)
    dt = jnp.exp(jr.uniform(key_dt, (units,), minval=low, maxval=high))
    A_log = jnp.log(jnp.arange(1.0, states + 1))
    return Mamba(
        jnp.tile(A_log, (units, 1)),
        jnp.ones(units),
        _drawn(key_x, rank + 2 * states, units),
        _drawn(key_w, units, rank),
        dt + jnp.log(-jnp.expm1(-dt)),
    )


def rglru_gates(units: int, *, key: Key, blocks: int = 4) -> RGLRU:
    """Decays between 0.9 and 0.999 where the gate is open."""
    key_a, key_r, key_i = jr.split(key, 3)
    a = jr.uniform(key_a, (units,), minval=0.9, maxval=0.999)
    size = units // blocks
    weights = [size**-0.5 * jr.normal(k, (blocks, size, size)) for k in (key_r, key_i)]
    zeros = jnp.zeros((blocks, size))
    Lambda = jnp.log(jnp.expm1(-jnp.log(a) / 8))
    return RGLRU(Lambda, weights[0], zeros, weights[1], zeros)


def four_heads(units: int) -> Heads:
    """Keys and values as long as a quarter of the units."""
    return Heads(4, units // 4, units // 4)


GATES: dict[str, Callable[..., AbstractGates]] = {
    "mamba": mamba_gates,
    "rg-lru": rglru_gates,
    "mingru": lambda units, *, key: MinGRU(units),
    "minlstm": lambda units, *, key: MinLSTM(units),
    "gla": lambda units, *, key: GLA(four_heads(units)),
    "retnet": lambda units, *, key: RetNet(four_heads(units), 1 - 2.0 ** -jnp.arange(5.0, 9.0)),
}
"""Gates by name; where they have no weights of their own, the layer's input map drives them."""


def gated_language_model(kind: str, *, tokens: int, width: int, layers: int, key: Key) -> Recurrent:
    """A language model of `kind`, one of `GATES`, twice as wide inside its layers.

    >>> net = gated_language_model("mingru", tokens=5, width=4, layers=2, key=jr.key(0))
    >>> net(jnp.zeros(3, jnp.int32)).shape
    (3, 5)
    """
    if kind not in GATES:
        raise ValueError(f"kind must be one of {', '.join(GATES)}, got {kind!r}")
    key_layers, key_net = jr.split(key)
    stack = [_layer(kind, width, 2 * width, k) for k in jr.split(key_layers, layers)]
    cell = Blocks(tuple(stack), Norm(jnp.ones(width)), width)
    return Recurrent.init(cell, outputs=tokens, key=key_net, tokens=tokens)


def _layer(kind: str, width: int, units: int, key: Key) -> GatedLayer:
    key_g, key_in, key_out, key_gate, key_conv = jr.split(key, 5)
    gates = GATES[kind](units, key=key_g)
    convolved = gates.width == units
    taps = TAPS**-0.5 * jr.normal(key_conv, (units, TAPS))
    return GatedLayer(
        Norm(jnp.ones(width)),
        Dense(_drawn(key_in, gates.width, width)),
        LinearRecurrence(gates),
        Dense(_drawn(key_out, width, units)),
        Convolution(taps, jnp.zeros(units)) if convolved else None,
        Dense(_drawn(key_gate, units, width)),
        activation=jax.nn.silu,
    )


def _drawn(key: Key, rows: int, columns: int) -> Array:
    return columns**-0.5 * jr.normal(key, (rows, columns))
