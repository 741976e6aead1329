"""Elementwise functions by the names that ONNX and Keras give them."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


Values = Float[Array, "..."]
PLAIN: dict[str, Callable] = {
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "relu": jax.nn.relu,
    "softsign": jax.nn.soft_sign,
    "softplus": jax.nn.softplus,
    "linear": lambda z: z,
    "selu": jax.nn.selu,
    "silu": jax.nn.silu,
    "swish": jax.nn.silu,
    "exponential": jnp.exp,
}
SHAPED: dict[str, tuple[Callable, float, float]] = {
    "affine": (lambda z, a, b: a * z + b, 1.0, 0.0),
    "leakyrelu": (lambda z, a, b: jnp.where(z >= 0, z, a * z), 0.01, 0.0),
    "thresholdedrelu": (lambda z, a, b: jnp.where(z > a, z, 0), 1.0, 0.0),
    "scaledtanh": (lambda z, a, b: a * jnp.tanh(b * z), 1.0, 1.0),
    "hardsigmoid": (lambda z, a, b: jnp.clip(a * z + b, 0, 1), 0.2, 0.5),
    "elu": (lambda z, a, b: jnp.where(z >= 0, z, a * jnp.expm1(z)), 1.0, 0.0),
}
"""Functions of two numbers, alpha and beta, with ONNX's defaults."""
TAKES_BETA = {"affine", "scaledtanh", "hardsigmoid"}


@dataclasses.dataclass(frozen=True)
class Shaped:
    """A function with its two numbers; equal ones are one function to a compiler."""

    name: str
    alpha: float
    beta: float

    def __call__(self, z: Values) -> Values:
        return SHAPED[self.name][0](z, self.alpha, self.beta)


@dataclasses.dataclass(frozen=True)
class Clipped:
    """A function of what lies within plus and minus a bound."""

    function: Callable
    bound: float

    def __call__(self, z: Values) -> Values:
        return self.function(jnp.clip(z, -self.bound, self.bound))
