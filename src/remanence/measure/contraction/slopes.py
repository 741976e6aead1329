r"""Slope bounds of activations: $a \le (\rho(u) - \rho(v)) / (u - v) \le b$ for all $u \ne v$."""

from collections.abc import Callable

import jax
import jax.numpy as jnp


Slopes = tuple[float, float]


def identity(z):
    """The activation of a linear cell."""
    return z


SLOPES: dict[Callable, Slopes] = {
    identity: (1.0, 1.0),
    jnp.tanh: (0.0, 1.0),
    jnp.arctan: (0.0, 1.0),
    jnp.sin: (-1.0, 1.0),
    jnp.cos: (-1.0, 1.0),
    jax.nn.tanh: (0.0, 1.0),
    jax.nn.relu: (0.0, 1.0),
    jax.nn.relu6: (0.0, 1.0),
    jax.nn.sigmoid: (0.0, 0.25),
    jax.nn.hard_sigmoid: (0.0, 0.17),
    jax.nn.hard_tanh: (0.0, 1.0),
    jax.nn.softplus: (0.0, 1.0),
    jax.nn.soft_sign: (0.0, 1.0),
    jax.nn.elu: (0.0, 1.0),
    jax.nn.leaky_relu: (0.0099, 1.0),
    jax.nn.silu: (-0.1, 1.1),
    jax.nn.gelu: (-0.13, 1.13),
    jax.lax.tanh: (0.0, 1.0),
}
"""Rounded outwards where a bound is not a short number."""

BOUNDED: dict[Callable, float] = {
    jnp.tanh: 1.0,
    jax.nn.tanh: 1.0,
    jax.lax.tanh: 1.0,
    jnp.sin: 1.0,
    jnp.cos: 1.0,
    jnp.arctan: 1.5708,
    jax.nn.sigmoid: 1.0,
    jax.nn.hard_sigmoid: 1.0,
    jax.nn.hard_tanh: 1.0,
    jax.nn.soft_sign: 1.0,
    jax.nn.relu6: 6.0,
}
"""The largest modulus that an activation can give, where there is one."""


def slopes_of(activation: Callable, given: Slopes | None = None) -> Slopes:
    """The known slope bounds of an activation, or the given ones."""
    if given is not None:
        a, b = given
        if not a <= b:
            raise ValueError(f"slopes must be (smallest, largest), got {given}")
        return float(a), float(b)
    if activation in SLOPES:
        return SLOPES[activation]
    name = getattr(activation, "__name__", repr(activation))
    raise ValueError(
        f"the slopes of the activation {name} are not known; give slopes=(smallest, largest)"
    )


def size_of(activation: Callable) -> float:
    """The largest modulus of an activation, infinite where none is known."""
    return BOUNDED.get(activation, float("inf"))
