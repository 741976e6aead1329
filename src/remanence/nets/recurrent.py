r"""A recurrent network: tokens or vectors in, a readout $y = W_y h + b_y$ at the end.

The readout is taken after the last input or after every one. Where a head is not
affine, any function of the cell's output takes its place.
"""

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jax.core import Tracer
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from .._types import Input, Key, Orbit, State
from ..cells import input_size, output


Steps = Float[ArrayLike, "_ inputs"] | Int[ArrayLike, "_"]
"""The vectors or the tokens of one sequence."""


def unroll(cell: Any, h0: State, xs: Float[Array, "time inputs"]) -> Orbit:
    r"""The states $h_1 \dots h_T$ visited from `h0` under `xs`."""

    def step(h: State, x: Input) -> tuple[State, State]:
        following = cell(h, x)
        return following, following

    return jax.lax.scan(step, h0, xs)[1]


class Recurrent(eqx.Module):
    """An optional embedding, a cell, an optional affine readout or other head.

    Called on one sequence; `jax.vmap` it over a batch. Without `W_y` the cell's own output
    is returned. `head` is any function of that output, in JAX: a normalisation, a
    perceptron, a softmax.

    >>> from remanence.cells import Linear
    >>> cell = Linear(W_h=0.5 * jnp.eye(2), W_x=jnp.ones((2, 1)))
    >>> Recurrent(cell, head=jax.nn.softmax)(jnp.ones((3, 1)))[-1].tolist()
    [0.5, 0.5]
    """

    cell: Any
    W_y: Float[Array, "outputs units"] | None = None
    b_y: Float[Array, " outputs"] | None = None
    embedding: Float[Array, "tokens inputs"] | None = None
    readout: Literal["last", "every"] = eqx.field(static=True, default="every")
    head: Callable[[Array], Array] | None = None

    def __check_init__(self):
        if self.head is not None and (self.W_y is not None or self.b_y is not None):
            raise ValueError("a head takes the place of W_y and b_y; one of the two would do")

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
        """Gaussian readout (and embedding, if it reads `tokens`) round a cell."""
        key_y, key_e = jr.split(key)
        units = output(cell, cell.initial_state()).size
        W_y = units**-0.5 * jr.normal(key_y, (outputs, units))
        embedding = None
        if tokens is not None:
            embedding = jr.normal(key_e, (tokens, input_size(cell) or tokens))
        return cls(cell, W_y, jnp.zeros(outputs), embedding, readout)

    def embed(self, xs: Steps) -> Float[Array, "time inputs"]:
        """The vectors that the cell reads: `xs`, or the rows of the embedding."""
        inputs = jnp.asarray(xs)
        if jnp.issubdtype(inputs.dtype, jnp.integer):
            inputs = rows_of_tokens(self.embedding, inputs)
        width = input_size(self.cell)
        if width is not None and inputs.shape[1:] != (width,):
            raise ValueError(f"a sequence of {width} numbers a step would do, got {inputs.shape}")
        return inputs

    def read(self, h: State) -> Float[Array, " outputs"]:
        """The readout of one state."""
        return self.decode(output(self.cell, h))

    def decode(self, y: Float[Array, " units"]) -> Float[Array, " outputs"]:
        """The readout of one output of the cell."""
        if self.head is not None:
            return self.head(y)
        y = y if self.W_y is None else self.W_y @ y
        return y if self.b_y is None else y + self.b_y

    def __call__(self, xs: Steps, *, h0: State | None = None) -> Float[Array, "*time outputs"]:
        """The outputs at every step, or at the last one.

        A cell that offers `outputs(xs)`, a whole sequence at once, is asked for that.
        """
        if h0 is None and hasattr(self.cell, "outputs"):
            ys = self.cell.outputs(self.embed(xs))
            return self.decode(ys[-1]) if self.readout == "last" else jax.vmap(self.decode)(ys)
        start = self.cell.initial_state() if h0 is None else h0
        states = unroll(self.cell, start, self.embed(xs))
        if self.readout == "last":
            return self.read(jax.tree.map(lambda leaf: leaf[-1], states))
        return jax.vmap(self.read)(states)


def rows_of_tokens(embedding: Any, tokens: Any) -> Any:
    """The rows of an embedding, of NumPy or JAX."""
    if embedding is None:
        raise ValueError("tokens came, but this network has no embedding")
    # JAX would read the nearest row of an unknown token; inside a program nobody can look.
    if not isinstance(tokens, Tracer) and tokens.size:
        known, least, most = len(embedding), int(tokens.min()), int(tokens.max())
        if least < 0 or most >= known:
            raise ValueError(f"tokens must lie in 0 to {known - 1}, got {least} to {most}")
    return embedding[tokens]
