r"""What is known of activations: $a \le (\rho(u) - \rho(v)) / (u - v) \le b$ for all $u \ne v$."""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp


Slopes = tuple[float, float]

ACTIVATIONS: dict[Callable, tuple[float, float, float]] = {
    jnp.tanh: (0.0, 1.0, 1.0),
    jax.nn.tanh: (0.0, 1.0, 1.0),
    jax.lax.tanh: (0.0, 1.0, 1.0),
    jnp.arctan: (0.0, 1.0, 1.5708),
    jnp.sin: (-1.0, 1.0, 1.0),
    jnp.cos: (-1.0, 1.0, 1.0),
    jax.nn.relu: (0.0, 1.0, math.inf),
    jax.nn.relu6: (0.0, 1.0, 6.0),
    jax.nn.sigmoid: (0.0, 0.25, 1.0),
    jax.nn.hard_sigmoid: (0.0, 0.17, 1.0),
    jax.nn.hard_tanh: (0.0, 1.0, 1.0),
    jax.nn.softplus: (0.0, 1.0, math.inf),
    jax.nn.soft_sign: (0.0, 1.0, 1.0),
    jax.nn.elu: (0.0, 1.0, math.inf),
    jax.nn.leaky_relu: (0.0099, 1.0, math.inf),
    jax.nn.silu: (-0.1, 1.1, math.inf),
    jax.nn.gelu: (-0.13, 1.13, math.inf),
}
"""The smallest and largest slope and the largest modulus, rounded outwards."""


def slopes_of(activation: Callable | None, given: Slopes | None = None) -> Slopes:
    """The known slope bounds of an activation (None: the identity), or the given ones."""
    if activation is None:
        return 1.0, 1.0
    if given is not None:
        a, b = given
        if not a <= b:
            raise ValueError(f"slopes must be (smallest, largest), got {given}")
        return float(a), float(b)
    if activation in ACTIVATIONS:
        return ACTIVATIONS[activation][:2]
    name = getattr(activation, "__name__", repr(activation))
    raise ValueError(
        f"the slopes of the activation {name} are not known; give slopes=(smallest, largest)"
    )


def size_of(activation: Callable | None) -> float:
    """The largest modulus of an activation, infinite where none is known."""
    return math.inf if activation is None else ACTIVATIONS.get(activation, (0, 0, math.inf))[2]
