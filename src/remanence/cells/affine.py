r"""Cells whose units take state and input through one affine map, $z = W_h h + W_x x + b$."""

from typing import Any

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
