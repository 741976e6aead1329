r"""The sLSTM (Beck et al. 2024): $c' = f c + i z$, $n' = f n + i$, $h' = o\, c' / n'$."""

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from .._types import Input, Key, Vector
from .base import AbstractCell


Triple = tuple[Vector, Vector, Vector]


class SLSTM(AbstractCell):
    r"""Gates that read the cell's own output through a block a head.

    $f = \sigma(\tilde f)$, $i = e^{\tilde i}$, $z = \tanh\tilde z$, $o = \sigma(\tilde o)$, each of
    $W x + R h + b$ with $R$ a block a head. Its gates read its own output, so its exponents need
    frames. The stabiliser of its implementations is a gauge and no state.
    The state is `(c, n, h)`; the gates are in the order i, f, z, o.
    """

    W: Float[Array, "4 units inputs"]
    R: Float[Array, "4 heads size size"]
    b: Float[Array, "4 units"]

    @classmethod
    def init(cls, inputs: int, units: int, *, key: Key, heads: int = 1) -> "SLSTM":
        """Gaussian weights, forget gates that begin open."""
        key_w, key_r = jr.split(key)
        size = units // heads
        W = inputs**-0.5 * jr.normal(key_w, (4, units, inputs))
        R = size**-0.5 * jr.normal(key_r, (4, heads, size, size))
        return cls(W, R, jnp.zeros((4, units)).at[1].set(2.0))

    def __call__(self, h: Triple, x: Input) -> Triple:
        c, n, y = h
        heads = y.reshape(self.R.shape[1], -1)
        back = jnp.einsum("ghij,hj->ghi", self.R, heads).reshape(self.b.shape)
        drive = back + self.b
        i, f, z, o = drive if x is None else drive + self.W @ x
        f, i = jax.nn.sigmoid(f), jnp.exp(i)
        c, n = f * c + i * jnp.tanh(z), f * n + i
        return c, n, jax.nn.sigmoid(o) * c / n

    def output(self, h: Triple) -> Vector:
        return h[2]

    def initial_state(self) -> Triple:
        zeros = jnp.zeros(self.b.shape[1], self.b.dtype)
        return zeros, zeros, zeros

    @property
    def input_size(self) -> int:
        return self.W.shape[2]
