r"""Several cells as one: layer $l$ reads what layer $l - 1$ says in the same step.

The Jacobian is block triangular: $\delta_l' = J_l \delta_l + J_{x,l}\, \delta y_{l-1}'$ with
$y$ what a layer says, and $\det J = \prod_l \det J_l$.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from .._types import Frame, Input, InputFrame, Scalar, State
from . import base
from .base import AbstractCell, AbstractWrapper, Dual, LogVolume, Pushed, StackForm


class Stack(AbstractCell):
    """A deep recurrent network seen as one map; the state is a tuple of states."""

    cells: tuple[Any, ...]

    def __check_init__(self):
        if not self.cells:
            raise ValueError("a stack needs at least one cell, got none")
        for below, above in zip(self.cells, self.cells[1:], strict=False):
            gives, takes = base.output(below, below.initial_state()).size, base.input_size(above)
            if takes not in (None, gives):
                raise ValueError(f"a layer that takes {takes} cannot follow one that gives {gives}")

    def __call__(self, h: State, x: Input) -> State:
        following = []
        for cell, state in zip(self.cells, h, strict=True):
            state = cell(state, x)
            x = base.output(cell, state)
            following.append(state)
        return tuple(following)

    def pushforward(self, h: State, x: Input, Q: Frame, X: InputFrame | None = None) -> Pushed:
        following, moved = [], []
        for cell, state, part in zip(self.cells, h, _rows(h, Q), strict=True):
            state, JQ = base.pushforward(cell, state, x, part, X)
            x, linear = jax.linearize(*_flat_output(cell, state))
            X = jax.vmap(linear, in_axes=1, out_axes=1)(JQ)
            following.append(state)
            moved.append(JQ)
        return tuple(following), jnp.concatenate(moved)

    def dual_pushforward(self) -> Dual | None:
        """Every layer by itself, less what its output moves above; if all have a closed form."""
        known = [dual for cell in self.cells if (dual := base.dual_pushforward(cell)) is not None]
        if len(known) < len(self.cells):
            return None

        def at(h: State, x: Input, Q: Frame):
            following, moved, inputs = [], [], []
            for cell, dual, state, part in zip(self.cells, known, h, _rows(h, Q), strict=True):
                state, P, X = dual(state, x, part)
                if moved:
                    pull = jax.vjp(*_flat_output(self.cells[len(moved) - 1], following[-1]))[1]
                    moved[-1] = moved[-1] - jax.vmap(pull, in_axes=1, out_axes=1)(X)[0]
                x = base.output(cell, state)
                following.append(state)
                moved.append(P)
                inputs.append(X)
            return tuple(following), jnp.concatenate(moved), inputs[0]

        return at

    def log_volume(self) -> LogVolume | None:
        """The sum over layers, if every layer has a closed form."""
        known = [volume for cell in self.cells if (volume := base.log_volume(cell)) is not None]
        if len(known) < len(self.cells):
            return None

        def at(h: State, x: Input) -> Scalar:
            total = jnp.zeros((), jnp.result_type(*jax.tree.leaves(h)))
            for cell, state, volume in zip(self.cells, h, known, strict=True):
                total = total + volume(state, x)
                x = base.output(cell, cell(state, x))
            return total

        return at

    def output(self, h: State) -> Float[Array, " outputs"]:
        return base.output(self.cells[-1], h[-1])

    def contraction_form(self) -> StackForm:
        return StackForm(self.cells)

    def initial_state(self) -> State:
        return tuple(cell.initial_state() for cell in self.cells)

    @property
    def input_size(self) -> int | None:
        return base.input_size(self.cells[0])


def _rows(h: State, Q: Frame) -> list[Array]:
    """The rows of a frame that belong to each layer."""
    sizes = [sum(leaf.size for leaf in jax.tree.leaves(part)) for part in h]
    return jnp.split(Q, np.cumsum(sizes)[:-1])


def _flat_output(cell: Any, state: State) -> tuple[Any, Array]:
    """What a layer says as a function of its flat state, and that state."""
    flat, unravel = ravel_pytree(state)
    return lambda flat: base.output(cell, unravel(flat)), flat


class Started(AbstractWrapper):
    """Any cell with another first state, as files may give one; every step is the cell's own.

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

    def pushforward(self, h: State, x: Input, Q: Frame, X: InputFrame | None = None) -> Pushed:
        return base.pushforward(self.cell, h, x, Q, X)

    def dual_pushforward(self) -> Dual | None:
        return base.dual_pushforward(self.cell)

    def log_volume(self) -> LogVolume | None:
        return base.log_volume(self.cell)
