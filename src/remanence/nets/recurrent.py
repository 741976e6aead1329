r"""A recurrent network: tokens or vectors in, a readout $y = W_y h + b_y$ at the end.

The readout is taken after the last input or after every one.
"""

from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, Int

from .._types import Key, State
from ..cells import input_size, output
from .unroll import unroll


class Recurrent(eqx.Module):
    """An optional embedding, a cell, an optional affine readout.

    Called on one sequence; `jax.vmap` it over a batch (and over `length`, for
    padded sequences). Without `W_y` the cell's own output is returned.
    """

    cell: Any
    W_y: Float[Array, "outputs units"] | None = None
    b_y: Float[Array, " outputs"] | None = None
    embedding: Float[Array, "tokens inputs"] | None = None
    readout: Literal["last", "every"] = eqx.field(static=True, default="every")

    @classmethod
    def init(
        cls,
        cell: Any,
        *,
        outputs: int,
        key: Key,
        tokens: int | None = None,
        readout: Literal["last", "every"] = "every",
    ) -> "Recurrent":
        """Gaussian readout (and embedding, if `tokens` are to be heard) round a cell."""
        key_y, key_e = jr.split(key)
        units = output(cell, cell.initial_state()).size
        W_y = units**-0.5 * jr.normal(key_y, (outputs, units))
        embedding = None
        if tokens is not None:
            embedding = jr.normal(key_e, (tokens, input_size(cell) or tokens))
        return cls(cell, W_y, jnp.zeros(outputs), embedding, readout)

    def heard(
        self, xs: Float[Array, "time inputs"] | Int[Array, " time"]
    ) -> Float[Array, "time inputs"]:
        """The vectors that the cell hears: `xs`, or the rows of the embedding."""
        if jnp.issubdtype(xs.dtype, jnp.integer):
            if self.embedding is None:
                raise ValueError("tokens came, but this network has no embedding")
            return self.embedding[xs]
        return xs

    def read(self, h: State) -> Float[Array, " outputs"]:
        """The readout of one state."""
        y = output(self.cell, h)
        if self.W_y is not None:
            y = self.W_y @ y
        return y if self.b_y is None else y + self.b_y

    def __call__(
        self,
        xs: Float[Array, "time inputs"] | Int[Array, " time"],
        *,
        h0: State | None = None,
        length: int | Int[Array, ""] | None = None,
    ) -> Float[Array, "*time outputs"]:
        """The outputs at every step, or at the last (real) one."""
        start = self.cell.initial_state() if h0 is None else h0
        states = unroll(self.cell, start, self.heard(xs), length=length)
        if self.readout == "last":
            return self.read(jax.tree.map(lambda leaf: leaf[-1], states))
        return jax.vmap(self.read)(states)
