r"""A network whose output is its next input: $x_{i+1} = \mathrm{onehot}(\arg\max(W_y h_i + b_y))$.

With $h_i = \phi(h_{i-1}, x_i)$ for any cell $\phi$. The first input $x_1$ is the
token `first`; a network that starts from zero reads `<START>` there. `ClosedLoop` is the
map of its states, $h' = \phi(h, g(h))$.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .._types import Input, State
from ..cells import input_size, output
from ..cells.base import AbstractWrapper


class Generator(eqx.Module):
    """A cell, an affine readout, and where to begin.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> flip = Linear(W_h=-jnp.eye(1), W_x=jnp.zeros((1, 2)))
    >>> net = Generator(flip, jnp.array([[1.0], [-1.0]]), jnp.zeros(2), jnp.ones(1))
    >>> net.emissions(4).tolist()
    [1, 0, 1, 0]
    """

    cell: Any
    W_y: Any
    b_y: Float[Array, " outputs"]
    h_0: State
    first: int = eqx.field(static=True, default=0)

    def read(self, h: State) -> Float[Array, " outputs"]:
        """The logits of a state."""
        return self.W_y @ output(self.cell, h) + self.b_y

    def one_hot(self, token: Int[Array, ""] | int) -> Float[Array, " inputs"]:
        """The one-hot vector of a token."""
        size = input_size(self.cell) or self.b_y.size
        return jax.nn.one_hot(token, size, dtype=self.b_y.dtype)

    def emissions(self, steps: int) -> Int[Array, " time"]:
        """The indices of the first `steps` symbols that the network emits."""

        def step(at: tuple[State, Array], _: None) -> tuple[tuple[State, Array], Array]:
            h = self.cell(at[0], self.one_hot(at[1]))
            token = jnp.argmax(self.read(h))
            return (h, token), token

        first = jnp.argmax(self.one_hot(self.first))
        return jax.lax.scan(step, (self.h_0, first), None, length=steps)[1]

    def feedback(self, h: State) -> Float[Array, " inputs"]:
        """What the network reads after a state."""
        return self.one_hot(jnp.argmax(self.read(h)))


class ClosedLoop(AbstractWrapper):
    """Any cell, its input taken from its own state; what comes from outside is not read.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> shift = Linear(2 * jnp.eye(1), -jnp.eye(1))
    >>> loop = ClosedLoop(shift, lambda h: jnp.floor(2 * h))
    >>> loop(jnp.array([0.75]), None).tolist()
    [0.5]
    """

    cell: Any
    feedback: Callable[[State], Float[Array, " inputs"]]

    def __call__(self, h: State, x: Input) -> State:
        return self.cell(h, self.feedback(h))
