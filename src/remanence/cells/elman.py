r"""The classical recurrent cell (Elman 1990), $h' = \rho(W_h h + W_x x + b)$."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Frame, Input, InputFrame, Key, Vector
from .affine import AbstractAffine, gaussian_weights, log_slope, value_and_slope
from .base import Dual, inverse_transposed, log_determinant, LogVolume, LoopForm, Pushed


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
        cls, inputs: int, units: int, *, key: Key, gain: float = 1.0, activation=jnp.tanh
    ) -> "Elman":
        """Gaussian weights; the spectral radius of `W_h` is about `gain`."""
        W_h, W_x = gaussian_weights(inputs, units, key=key, gain=gain)
        return cls(W_h, W_x, jnp.zeros(units), activation)

    def __call__(self, h: Vector, x: Input) -> Vector:
        return self.from_drive(self.drive(h, x), h)

    def from_drive(self, z: Array, h: Array) -> Array:
        return self.activation(z)

    def pushforward(self, h: Vector, x: Input, Q: Frame, X: InputFrame | None = None) -> Pushed:
        following, slope = value_and_slope(self.activation, self.drive(h, x))
        Z = self.W_h @ Q if X is None else self.W_h @ Q + self.W_x @ X
        return following, slope[:, None] * Z

    def dual_pushforward(self) -> Dual | None:
        r"""Where no slope is 0: $J^{-\top} Q = (D W_h)^{-\top} Q$."""
        if self.activation not in (jnp.tanh, jax.nn.sigmoid):
            return None
        inverse = inverse_transposed(self.W_h)

        def at(h, x, Q):
            following, slope = value_and_slope(self.activation, self.drive(h, x))
            solved = inverse @ Q
            return following, solved / slope[:, None], self.W_x.T @ solved

        return at

    def log_volume(self) -> LogVolume:
        r"""$\log|\det J| = \log|\det W_h| + \sum_i \log|\rho'(z_i)|$."""
        whole = log_determinant(self.W_h)
        return lambda h, x: whole + jnp.sum(log_slope(self.activation, self.drive(h, x)))

    def contraction_form(self) -> LoopForm:
        return LoopForm(self.W_h, self.W_x, self.b, self.activation)
