r"""Gated causal convolutions (Dauphin et al. 2017), the feed-forward rival of an LSTM.

$$h \leftarrow h + v \odot \sigma(g), \qquad (v, g)_t = A\,h_t + B\,h_{t-2^l} + b$$

A pointwise gated layer, then one such layer for each $l = 0 \dots L-1$: the context is
$2^L$ inputs, and nothing before them is read.
"""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int

from ..._types import Key


class GatedConvolution(eqx.Module):
    """Reads its last inputs, a power of two of them, and nothing before them."""

    embedding: Float[Array, "tokens inputs"] | None
    W_x: Float[Array, "inputs gates"]
    kernels: tuple[Float[Array, "2 units gates"], ...]
    biases: tuple[Float[Array, " gates"], ...]
    W_y: Float[Array, "outputs units"]
    b_y: Float[Array, " outputs"]

    def hidden(
        self, xs: Float[Array, "time inputs"] | Int[Array, " time"]
    ) -> Float[Array, "time units"]:
        """The last layer's units at every step."""
        inputs = xs if self.embedding is None else self.embedding[xs]
        first, *rest = self.biases
        h = _gated(inputs @ self.W_x + first)
        for layer, (kernel, b) in enumerate(zip(self.kernels, rest, strict=True)):
            back = jnp.pad(h, ((2**layer, 0), (0, 0)))[: h.shape[0]]
            h = h + _gated(h @ kernel[1] + back @ kernel[0] + b)
        return h

    def __call__(
        self, xs: Float[Array, "time inputs"] | Int[Array, " time"]
    ) -> Float[Array, "time outputs"]:
        return self.hidden(xs) @ self.W_y.T + self.b_y


def _gated(z):
    value, gate = jnp.split(z, 2, axis=-1)
    return value * jax.nn.sigmoid(gate)


def convolution_like(net: Any, context: int, *, key: Key) -> GatedConvolution:
    """An untrained convolution with as many weights as a recurrent network has."""
    layers = int(context).bit_length() - 1
    if context < 1 or 2**layers != context:
        raise ValueError(f"context must be a power of two, got {context}")
    inputs, outputs = net.cell.W_x.shape[1], net.W_y.shape[0]
    budget = sum(leaf.size for leaf in jax.tree.leaves((net.cell, net.W_y)))
    a, b = 4 * layers, 2 * inputs + outputs + 2 * (layers + 1)
    units = budget / b if a == 0 else (math.sqrt(b * b + 4 * a * budget) - b) / (2 * a)
    units = max(4, int(units))
    key_e, key_x, key_y, *keys = jr.split(key, 3 + layers)
    # Gaussian weights that about keep variance.
    draw = lambda key, fan, *shape: (2 / fan) ** 0.5 * jr.normal(key, shape)
    tokens = None if net.embedding is None else net.embedding.shape[0]
    return GatedConvolution(
        None if tokens is None else 0.3 * jr.normal(key_e, (tokens, inputs)),
        draw(key_x, inputs, inputs, 2 * units),
        tuple(draw(k, 2 * units, 2, units, 2 * units) for k in keys),
        tuple(jnp.zeros(2 * units) for _ in range(layers + 1)),
        units**-0.5 * jr.normal(key_y, (outputs, units)),
        jnp.zeros(outputs),
    )
