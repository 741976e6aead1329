r"""What `rm.contraction` needs of a cell: its equation with its numbers, by `contraction_form()`.

The form is a cell's own step. A subclass does not inherit it, since it may step
otherwise; a cell of one's own offers one of these records, and is certified as such.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class LoopForm(NamedTuple):
    r"""$h' = R h + \gamma\,\rho(W_h h + W_x x + b)$, $\rho$ the identity where it is None."""

    W_h: Any
    W_x: Any
    b: Any = None
    activation: Callable | None = None
    R: Any = 0.0
    coupling: Any = 1.0


class LSTMForm(NamedTuple):
    """The gates of `cells.LSTM`, in its order."""

    W_h: Any
    W_x: Any
    b: Any = None


class GRUForm(NamedTuple):
    """The gates of `cells.GRU`, in its order."""

    W_h: Any
    W_x: Any
    b: Any = None
    b_n: Any = None


class DiagonalForm(NamedTuple):
    r"""$h' = a \odot h + B x$, real or complex."""

    a: Any
    B: Any


class StackForm(NamedTuple):
    """Cells one above the other, each of which offers its own form."""

    cells: tuple[Any, ...]
