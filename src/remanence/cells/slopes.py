r"""Activations with slopes that keep their digits, $\tanh' = \mathrm{sech}^2$ and $\sigma' = \sigma(z)\,\sigma(-z)$.

From their values, $1 - y^2$ and $y(1 - y)$ cancel: at $z = 17$ nothing is left of a
slope of $7 \cdot 10^{-15}$ but its order of magnitude, at 20 nothing at all.
"""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp

from .._types import Vector


def tanh_and_slope(z: Vector) -> tuple[Vector, Vector]:
    """The hyperbolic tangent and its slope, which is never 0: it stops short of underflow."""
    e = jnp.exp(-2 * jnp.abs(z))
    slope = 4 * e / (1 + e) ** 2
    return jnp.tanh(z), jnp.maximum(slope, 2.0**60 * jnp.finfo(z.dtype).tiny)


def sigmoid_and_slope(z: Vector) -> tuple[Vector, Vector]:
    """The logistic function and its slope."""
    y = jax.nn.sigmoid(z)
    return y, y * jax.nn.sigmoid(-z)


def value_and_slope(activation: Callable, z: Vector) -> tuple[Vector, Vector]:
    r"""$\rho(z)$ and $\rho'(z)$, elementwise."""
    if activation is jnp.tanh:
        return tanh_and_slope(z)
    if activation is jax.nn.sigmoid:
        return sigmoid_and_slope(z)
    return jax.jvp(activation, (z,), (jnp.ones_like(z),))


def log_slope(activation: Callable, z: Vector) -> Vector:
    r"""$\log|\rho'(z)|$, of tanh and the logistic function without underflow."""
    if activation is jnp.tanh:
        return math.log(4) + log_slope(jax.nn.sigmoid, 2 * z)
    if activation is jax.nn.sigmoid:
        return jax.nn.log_sigmoid(z) + jax.nn.log_sigmoid(-z)
    return jnp.log(jnp.abs(value_and_slope(activation, z)[1]))
