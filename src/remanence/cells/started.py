"""A cell that begins in a state of its own: where files give one, it is not zero."""

from collections.abc import Callable
from typing import Any

from jaxtyping import Array, Float

from .._types import Frame, Input, InputFrame, Scalar, State
from .base import AbstractCell, input_size, log_volume, output, pushforward


class Started(AbstractCell):
    """Any cell with another first state; every step is the cell's own.

    >>> import jax.numpy as jnp
    >>> from remanence.cells import Linear
    >>> cell = Started(Linear(0.5 * jnp.eye(1), jnp.ones((1, 1))), jnp.ones(1))
    >>> cell(cell.initial_state(), jnp.zeros(1)).tolist()
    [0.5]
    """

    cell: Any
    h_0: State

    def __call__(self, h: State, x: Input) -> State:
        return self.cell(h, x)

    def initial_state(self) -> State:
        return self.h_0

    def pushforward(
        self, h: State, x: Input, Q: Frame, X: InputFrame | None = None
    ) -> tuple[State, Frame]:
        return pushforward(self.cell, h, x, Q, X)

    def log_volume(self) -> Callable[[State, Input], Scalar] | None:
        return log_volume(self.cell)

    def output(self, h: State) -> Float[Array, " outputs"]:
        return output(self.cell, h)

    @property
    def input_size(self) -> int | None:
        return input_size(self.cell)
