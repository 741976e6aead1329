r"""The copying task: symbols, then `delay` blanks; a bell asks for the symbols back.

Hochreiter & Schmidhuber 1997, Arjovsky et al. 2016. What must be kept is
$\text{length} \cdot \log \text{symbols}$ nats for `delay` steps; a network that
remembers nothing loses $\log \text{symbols}$ a symbol.
"""

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int

from .._types import Key


def copying(
    samples: int, *, symbols: int, length: int, delay: int, key: Key
) -> tuple[Float[Array, "samples time inputs"], Int[Array, "samples length"]]:
    """Inputs (one-hot symbols, a blank, the bell) and the symbols that are asked for.

    The answers are due at the last `length` steps.

    >>> xs, asked = copying(2, symbols=3, length=2, delay=5, key=jr.key(0))
    >>> xs.shape, asked.shape
    ((2, 9, 5), (2, 2))
    """
    for name, value, least in (
        ("samples", samples, 1),
        ("symbols", symbols, 2),
        ("length", length, 1),
        ("delay", delay, 0),
    ):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    asked = jr.randint(key, (samples, length), 0, symbols)
    blank = jnp.full((samples, delay), symbols)
    rest = jnp.full((samples, length), symbols).at[:, 0].set(symbols + 1)
    tokens = jnp.concatenate([asked, blank, rest], axis=1)
    return jax.nn.one_hot(tokens, symbols + 2), asked
