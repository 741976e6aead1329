r"""Cells whose units take state and input through one affine map, $z = W_h h + W_x x + b$.

Slopes keep their digits, $\tanh' = \mathrm{sech}^2$ and $\sigma' = \sigma(z)\,\sigma(-z)$: from the
values, $1 - y^2$ and $y(1 - y)$ cancel, and at $z = 20$ nothing would be left of them.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from .._types import Input, Key, Scalar, State, Vector
from .base import AbstractCell


class AbstractAffine(AbstractCell):
    """A cell with fields `W_h`, `W_x` and mostly `b`.

    One that offers `from_drive(z, h)`, the next state from the drive `z` (also of columns
    of states), trains quicker on batches.
    """

    def drive(self: Any, h: Vector, x: Input) -> Float[Array, " drives"]:
        """$W_h h + W_x x + b$."""
        z = self.W_h @ h
        if x is not None:
            z = z + self.W_x @ x
        return z if self.b is None else z + self.b

    def input_drive(self: Any, x: Input) -> Float[Array, " drives"]:
        """$W_x x + b$."""
        z = jnp.zeros(len(self.W_x), self.W_x.dtype) if x is None else self.W_x @ x
        return z if self.b is None else z + self.b

    def initial_state(self: Any) -> State:
        return jnp.zeros(self.W_h.shape[1], self.W_h.dtype)

    @property
    def input_size(self: Any) -> int:
        return self.W_x.shape[1]


def require_blocks(W_h: Array, blocks: int, kind: str) -> None:
    """Refuse recurrent weights that are not so many square blocks."""
    gates, units = W_h.shape
    if gates != blocks * units:
        raise ValueError(f"W_h must be {blocks}N x N for {kind}, got {gates} x {units}")


def gaussian_weights(inputs: int, units: int, *, key: Key, gain: Scalar = 1.0):
    """`W_h` of a spectral radius of about `gain`, and `W_x` of unit rows."""
    key_h, key_x = jr.split(key)
    W_h = gain * units**-0.5 * jr.normal(key_h, (units, units))
    return W_h, max(inputs, 1) ** -0.5 * jr.normal(key_x, (units, inputs))


def uniform(bound: float):
    """A draw of any shape between plus and minus a bound: torch's default."""
    return lambda key, *shape: jr.uniform(key, shape, minval=-bound, maxval=bound)


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
