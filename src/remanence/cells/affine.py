r"""Cells whose units take state and input through one affine map, $z = W_h h + W_x x + b$.

`Linear` is that map alone, $h' = W_h h + W_x x$, `Elman` the classical cell, $h' = \rho(z)$.
Slopes keep their digits, $\tanh' = \mathrm{sech}^2$ and $\sigma' = \sigma(z)\,\sigma(-z)$: from the
values, $1 - y^2$ and $y(1 - y)$ cancel, and at $z = 20$ nothing would be left of them.
"""

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from .._types import Frame, Input, InputFrame, Key, Scalar, State, Vector
from .base import AbstractCell, log_determinant, LoopForm


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


class Linear(AbstractAffine):
    """The simplest memory: no bias and no non-linearity.

    >>> import jax.numpy as jnp
    >>> cell = Linear(W_h=0.5 * jnp.eye(2), W_x=jnp.ones((2, 1)))
    >>> cell(jnp.ones(2), jnp.ones(1)).tolist()
    [1.5, 1.5]
    """

    W_h: Float[Array, "units units"]
    W_x: Float[Array, "units inputs"]

    @classmethod
    def init(cls, inputs: int, units: int, *, key: Key, gain: float = 1.0) -> "Linear":
        """Gaussian weights; the spectral radius of `W_h` is about `gain`."""
        return cls(*gaussian_weights(inputs, units, key=key, gain=gain))

    def __call__(self, h: Vector, x: Input) -> Vector:
        drive = self.W_h @ h
        return drive if x is None else drive + self.W_x @ x

    def log_volume(self) -> Callable[[Vector, Input], Scalar]:
        r"""$\log|\det W_h|$, everywhere."""
        whole = log_determinant(self.W_h)
        return lambda h, x: whole

    def contraction_form(self) -> LoopForm:
        return LoopForm(self.W_h, self.W_x)


class Elman(AbstractAffine):
    """`torch.nn.RNN`'s cell, with any elementwise activation.

    >>> import jax, jax.numpy as jnp
    >>> cell = Elman(W_h=jnp.eye(2), W_x=jnp.ones((2, 1)), activation=jax.nn.relu)
    >>> cell(jnp.ones(2), -3 * jnp.ones(1)).tolist()
    [0.0, 0.0]
    """

    W_h: Float[Array, "units units"]
    W_x: Float[Array, "units inputs"]
    b: Float[Array, " units"] | None = None
    activation: Callable = eqx.field(static=True, default=jnp.tanh)

    @classmethod
    def init(
        cls,
        inputs: int,
        units: int,
        *,
        key: Key,
        gain: float = 1.0,
        activation: Callable = jnp.tanh,
    ) -> "Elman":
        """Gaussian weights; the spectral radius of `W_h` is about `gain`."""
        W_h, W_x = gaussian_weights(inputs, units, key=key, gain=gain)
        return cls(W_h, W_x, jnp.zeros(units), activation)

    def __call__(self, h: Vector, x: Input) -> Vector:
        return self.from_drive(self.drive(h, x), h)

    def from_drive(self, z: Array, h: Array) -> Array:
        return self.activation(z)

    def pushforward(
        self, h: Vector, x: Input, Q: Frame, X: InputFrame | None = None
    ) -> tuple[Vector, Frame]:
        following, slope = value_and_slope(self.activation, self.drive(h, x))
        Z = self.W_h @ Q if X is None else self.W_h @ Q + self.W_x @ X
        return following, slope[:, None] * Z

    def log_volume(self) -> Callable[[Vector, Input], Scalar]:
        r"""$\log|\det J| = \log|\det W_h| + \sum_i \log|\rho'(z_i)|$."""
        whole = log_determinant(self.W_h)

        def at(h: Vector, x: Input) -> Scalar:
            return whole + jnp.sum(log_slope(self.activation, self.drive(h, x)))

        return at

    def contraction_form(self) -> LoopForm:
        return LoopForm(self.W_h, self.W_x, self.b, self.activation)
