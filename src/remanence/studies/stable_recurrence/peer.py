r"""Experiment 6's feed-forward peer: a gated causal convolution of width $r$ (Dauphin et al. 2017).

$$h_t = (A * x)_t \odot \sigma((B * x)_t), \qquad y_t = W_y h_t + b_y$$
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, Float, Int

from ..._types import Key
from ...train import trained
from .config import Language
from .language import segment_loss, segments


class GatedConvolution(eqx.Module):
    """Hears its last `width` inputs and nothing before them."""

    embedding: Float[Array, "tokens inputs"]
    kernel: Float[Array, "width inputs gates"]
    W_y: Float[Array, "outputs units"]
    b_y: Float[Array, " outputs"]

    @classmethod
    def init(
        cls, tokens: int, inputs: int, units: int, width: int, *, key: Key
    ) -> "GatedConvolution":
        """Gaussian weights that keep variance."""
        key_e, key_k, key_y = jr.split(key, 3)
        kernel = (width * inputs) ** -0.5 * jr.normal(key_k, (width, inputs, 2 * units))
        return cls(
            0.3 * jr.normal(key_e, (tokens, inputs)),
            3 * kernel,
            units**-0.5 * jr.normal(key_y, (tokens, units)),
            jnp.zeros(tokens),
        )

    def __call__(self, tokens: Int[Array, " time"]) -> Float[Array, "time outputs"]:
        xs = self.embedding[tokens]
        width = self.kernel.shape[0]
        padded = jnp.pad(xs, ((width - 1, 0), (0, 0)))
        z = sum(padded[j : j + xs.shape[0]] @ self.kernel[j] for j in range(width))
        value, gate = jnp.split(jnp.asarray(z), 2, axis=-1)
        return (value * jax.nn.sigmoid(gate)) @ self.W_y.T + self.b_y


def equal_units(config: Language, tokens: int, width: int) -> int:
    """The units that give the convolution as many weights as the RNN has."""
    N, E = config.units, config.embedding
    budget = N * N + N * E + N * tokens
    return max(4, budget // (2 * width * E + tokens))


def trained_peer(config: Language, stream, tokens: int, width: int, *, seed: int):
    """A convolution trained on the same segments as the recurrent models."""
    model = GatedConvolution.init(
        tokens,
        config.embedding,
        equal_units(config, tokens, width),
        width,
        key=jr.key(seed),
    )
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adam(config.learning_rate)
    )
    return eqx.filter_jit(trained)(
        model,
        segment_loss,
        optimizer,
        steps=config.steps,
        key=jr.key(seed + 1),
        data=jnp.asarray(stream),
        batch=segments(config.length, config.batch),
        every=config.steps,
    )[0]
