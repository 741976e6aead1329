"""A cell as measurements take it: its weights and its first state in double."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._precision import as_double
from .._types import Input, State
from ..cells import AbstractCell, input_size, output
from ..nets import Recurrent


class Widened(AbstractCell):
    """Any cell, started in double: a user's own may name a precision, or give plain numbers."""

    cell: Any

    def __call__(self, h: State, x: Input) -> State:
        return self.cell(h, x)

    def initial_state(self) -> State:
        wide = lambda leaf: jnp.asarray(leaf, jnp.float64)
        return jax.tree.map(wide, self.cell.initial_state())

    def output(self, h: State) -> Float[Array, " outputs"]:
        return output(self.cell, h)

    @property
    def input_size(self) -> int | None:
        return input_size(self.cell)


def in_double(cell: Any) -> Any:
    """The cell in double, wrapped only if it must be; use inside `double()`."""
    refuse_no_cell(cell)
    cell = as_double(cell)
    leaves = jax.tree.leaves(cell.initial_state())
    for kind in map(jnp.result_type, leaves):
        if not jnp.issubdtype(kind, jnp.floating):
            raise ValueError(
                f"the state holds {kind} numbers, and exponents are of real ones; "
                "a state of floating numbers would do (a complex one as two)"
            )
    wide = all(getattr(leaf, "dtype", None) == jnp.float64 for leaf in leaves)
    return cell if wide else Widened(cell)


def network_in_double(net: Any) -> Recurrent:
    """A network (or bare cell) in double; use inside `double()`."""
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    W_y, b_y, embedding, head = as_double((net.W_y, net.b_y, net.embedding, net.head))
    return Recurrent(in_double(net.cell), W_y, b_y, embedding, net.readout, head)


def refuse_no_cell(cell: Any) -> None:
    """Refuse what has not the two methods of a cell."""
    if not (callable(cell) and hasattr(cell, "initial_state")):
        raise ValueError(
            "a cell has __call__(h, x) and initial_state(), which "
            f"{type(cell).__name__} has not; from_torch reads modules of torch"
        )
