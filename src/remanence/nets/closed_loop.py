r"""A cell that reads itself, $h' = \phi(h, g(h))$."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from .._types import Input, State
from ..cells import AbstractCell, output


class ClosedLoop(AbstractCell):
    """Any cell, its input taken from its own state; what comes from outside is not read.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> shift = Linear(2 * jnp.eye(1), -jnp.eye(1))
    >>> loop = ClosedLoop(shift, lambda h: jnp.floor(2 * h))
    >>> loop(jnp.array([0.75]), None).tolist()
    [0.5]
    """

    cell: Any
    feedback: Callable[[State], Float[Array, " inputs"]] = eqx.field()

    def __call__(self, h: State, x: Input) -> State:
        return self.cell(h, self.feedback(h))

    def output(self, h: State) -> Float[Array, " outputs"]:
        return output(self.cell, h)

    def initial_state(self) -> State:
        return self.cell.initial_state()
