r"""The long short-term memory cell with every option that files of other libraries know.

$$i = \sigma(z_i + p_i \odot c), \quad f = \sigma(z_f + p_f \odot c), \quad c' = f \odot c + i \odot \phi(z_g)$$
$$o = \sigma(z_o + p_o \odot c'), \quad h' = P\,(o \odot \psi(c')), \qquad z = W_h h + W_x x + b$$

Peepholes $p$: Gers and Schmidhuber (2000); the projection $P$: Sak, Senior and Beaufays
(2014). Without them, and with the usual activations, this is `LSTM`, which is faster and
has certificates.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Input
from .affine import AbstractAffine


Pair = tuple[Float[Array, " outputs"], Float[Array, " units"]]


class GeneralLSTM(AbstractAffine):
    """The state is the pair `(h, c)`; blocks are in the order i, f, g, o as in `LSTM`.

    `peepholes` are those of the gates i, f and o. `activations` are of the gates, of the
    candidate and of the cell state. `coupled` gates forget what they do not write,
    $f = 1 - i$.
    """

    W_h: Float[Array, "gates outputs"]
    W_x: Float[Array, "gates inputs"]
    b: Float[Array, " gates"] | None = None
    P: Float[Array, "outputs units"] | None = None
    peepholes: Float[Array, "3 units"] | None = None
    activations: tuple[Callable, Callable, Callable] = eqx.field(
        static=True, default=(jax.nn.sigmoid, jnp.tanh, jnp.tanh)
    )
    coupled: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        gates, outputs = self.W_h.shape
        units = outputs if self.P is None else self.P.shape[1]
        if gates != 4 * units:
            raise ValueError(f"W_h must have 4N rows for N units, got {gates} for {units}")
        if self.P is not None and self.P.shape[0] != outputs:
            raise ValueError(f"P must have {outputs} rows, as W_h has columns")

    def __call__(self, h: Pair, x: Input) -> Pair:
        gate, candidate, outer = self.activations
        hidden, c = h
        i, f, g, o = jnp.split(self.drive(hidden, x), 4)
        if self.peepholes is not None:
            i, f = i + self.peepholes[0] * c, f + self.peepholes[1] * c
        i = gate(i)
        f = 1 - i if self.coupled else gate(f)
        c = f * c + i * candidate(g)
        if self.peepholes is not None:
            o = o + self.peepholes[2] * c
        hidden = gate(o) * outer(c)
        return (hidden if self.P is None else self.P @ hidden), c

    def output(self, h: Pair) -> Float[Array, " outputs"]:
        return h[0]

    def initial_state(self) -> Pair:
        gates, outputs = self.W_h.shape
        zeros = lambda size: jnp.zeros(size, self.W_h.dtype)
        return zeros(outputs), zeros(gates // 4)
