r"""The gated recurrent unit, in torch's equations and gate order (r, z, n).

$$n = \tanh(W_n x + b_n + r \odot (U_n h + b'_n)), \qquad h' = (1 - z) \odot n + z \odot h$$
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from .._types import Frame, Input, InputFrame, Key, Vector
from .affine import AbstractAffine, require_blocks, sigmoid_and_slope, tanh_and_slope, uniform
from .base import GRUForm, Pushed


class GRU(AbstractAffine):
    """torch's GRU: the reset gate acts after the product with `W_h`.

    The three blocks of `W_h`, `W_x` and `b` are the reset gate, the update gate
    and the candidate. `b_n` is the candidate's second bias, inside the reset;
    the other recurrent biases only add to `b`.
    """

    W_h: Float[Array, "gates units"]
    W_x: Float[Array, "gates inputs"]
    b: Float[Array, " gates"] | None = None
    b_n: Float[Array, " units"] | None = None

    @classmethod
    def init(cls, inputs: int, units: int, *, key: Key) -> "GRU":
        """torch's default: uniform between plus and minus the inverse root of `units`."""
        key_h, key_x, key_b, key_n = jr.split(key, 4)
        draw = uniform(units**-0.5)
        W_h, W_x = draw(key_h, 3 * units, units), draw(key_x, 3 * units, inputs)
        return cls(W_h, W_x, draw(key_b, 3 * units), draw(key_n, units))

    def __check_init__(self):
        require_blocks(self.W_h, 3, "a GRU")

    def _drives(self, h: Vector, x: Input):
        """The arguments of the two gates, and the candidate's two parts."""
        x_r, x_z, x_n = jnp.split(self.input_drive(x), 3)
        h_r, h_z, h_n = jnp.split(self.W_h @ h, 3)
        if self.b_n is not None:
            h_n = h_n + self.b_n
        return x_r + h_r, x_z + h_z, x_n, h_n

    def __call__(self, h: Vector, x: Input) -> Vector:
        z_r, z_z, x_n, h_n = self._drives(h, x)
        z, n = jax.nn.sigmoid(z_z), jnp.tanh(x_n + jax.nn.sigmoid(z_r) * h_n)
        return (1 - z) * n + z * h

    def pushforward(self, h: Vector, x: Input, Q: Frame, X: InputFrame | None = None) -> Pushed:
        z_r, z_z, x_n, h_n = self._drives(h, x)
        (r, d_r), (z, d_z) = sigmoid_and_slope(z_r), sigmoid_and_slope(z_z)
        n, d_n = tanh_and_slope(x_n + r * h_n)
        new = jax.nn.sigmoid(-z_z)  # 1 - z, which cancels
        Q_r, Q_z, Q_n = jnp.split(self.W_h @ Q, 3)
        scale = lambda v, Z: v[:, None] * Z
        D_n = scale(r, Q_n)
        if X is not None:
            X_r, X_z, X_n = jnp.split(self.W_x @ X, 3)
            Q_r, Q_z, D_n = Q_r + X_r, Q_z + X_z, D_n + X_n
        D_n = D_n + scale(h_n * d_r, Q_r)
        D = scale(new * d_n, D_n) + scale((h - n) * d_z, Q_z)
        return (1 - z) * n + z * h, D + scale(z, Q)

    def contraction_form(self) -> GRUForm:
        return GRUForm(self.W_h, self.W_x, self.b, self.b_n)


class GeneralGRU(AbstractAffine):
    r"""A GRU with the options that files of other libraries know; blocks are as in `GRU`.

    The reset gate acts before the product, $U_n (r \odot h) + b'_n$ (Cho et al. 2014), or
    with `reset_after` behind it. `activations` are of the gates and of the candidate.
    """

    W_h: Float[Array, "gates units"]
    W_x: Float[Array, "gates inputs"]
    b: Float[Array, " gates"] | None = None
    b_n: Float[Array, " units"] | None = None
    reset_after: bool = eqx.field(static=True, default=False)
    activations: tuple[Callable, Callable] = eqx.field(
        static=True, default=(jax.nn.sigmoid, jnp.tanh)
    )

    def __check_init__(self):
        require_blocks(self.W_h, 3, "a GRU")

    def __call__(self, h: Vector, x: Input) -> Vector:
        gate, candidate = self.activations
        gates = slice(2 * h.size)
        drive, U = self.input_drive(x), self.W_h[2 * h.size :]
        r, z = jnp.split(gate(drive[gates] + self.W_h[gates] @ h), 2)
        carried = U @ (h if self.reset_after else r * h)
        carried = carried if self.b_n is None else carried + self.b_n
        n = candidate(drive[2 * h.size :] + (r * carried if self.reset_after else carried))
        return (1 - z) * n + z * h
