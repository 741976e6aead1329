r"""Nonlinear residuals, $R(h) = \rho(R h)$: a Jacobian $\mathrm{diag}(\rho'(Rh))\,R$ that follows the state.

With tanh the residual saturates: large states are forgotten faster than small
ones. ReLU has slope 0 or 1, so whole directions die; leaky ReLU keeps a part.
"""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Scalar, Vector


class NonlinearResidual(eqx.Module):
    """A linear residual behind an elementwise activation, to be a `Residual`'s `R`.

    >>> import jax, jax.numpy as jnp
    >>> NonlinearResidual(2.0, jax.nn.relu)(jnp.array([1.0, -1.0])).tolist()
    [2.0, 0.0]
    """

    R: Float[Array, "units units"] | Scalar
    activation: Callable = eqx.field(static=True, default=jnp.tanh)

    def __call__(self, h: Vector) -> Vector:
        carried = self.R * h if jnp.ndim(self.R) == 0 else self.R @ h
        return self.activation(carried)
