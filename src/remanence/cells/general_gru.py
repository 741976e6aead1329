r"""The gated recurrent unit with the options that files of other libraries know.

$$n = \phi(W_n x + b_n + U_n (r \odot h) + b'_n), \qquad h' = (1 - z) \odot n + z \odot h$$

This is the order of Cho et al. (2014): the reset gate acts before the product. With
`reset_after` it acts behind it, as in `GRU`, which is faster and has certificates.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Input, Vector
from .affine import AbstractAffine, require_blocks


class GeneralGRU(AbstractAffine):
    """Blocks are in the order r, z, n as in `GRU`; `b_n` is the recurrent bias of n.

    `activations` are of the gates and of the candidate.
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
        units = h.size
        drive = self.input_drive(x)
        rz = gate(drive[: 2 * units] + self.W_h[: 2 * units] @ h)
        r, z = jnp.split(rz, 2)
        U = self.W_h[2 * units :]
        carried = U @ h if self.reset_after else U @ (r * h)
        if self.b_n is not None:
            carried = carried + self.b_n
        n = candidate(drive[2 * units :] + (r * carried if self.reset_after else carried))
        return (1 - z) * n + z * h
