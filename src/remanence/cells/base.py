r"""The one interface of the laboratory: a pure map $h' = \phi(h, x)$ on a pytree state.

Measurements call the functions below and never ask what kind of cell they have. A user's own cell
needs only `__call__(h, x)` and `initial_state()`; where a cell offers `pushforward`, `log_volume`,
`dual_pushforward`, `from_drive`, `output`, `input_size`, `contraction_form` or `log_decays` itself,
that is taken. `log_decays(h, x)` is for cells whose Jacobian is diagonal or triangular: the
logarithms of the moduli on its diagonal, in a shape that broadcasts to the state's.
"""

import abc
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from .._types import Frame, Input, InputFrame, Scalar, State


Pushed = tuple[State, Frame]
Dual = Callable[[State, Input, Frame], tuple[State, Frame, InputFrame]]
LogVolume = Callable[[State, Input], Scalar]


class AbstractCell(eqx.Module):
    """A recurrent map `(h, x) -> h'` with a state to start from."""

    @abc.abstractmethod
    def __call__(self, h: State, x: Input) -> State:
        """The next state."""

    @abc.abstractmethod
    def initial_state(self) -> State:
        """The state before anything was read: zeros, in the dtype of the weights."""


def pushforward(cell: Any, h: State, x: Input, Q: Frame, X: InputFrame | None = None) -> Pushed:
    r"""The next state and $J Q$, where $J = \partial h' / \partial h$.

    The columns of `Q` are tangent vectors in the order of `ravel_pytree(h)`. Where the input moves
    too, `X` holds its tangents and $J_x X$ is added: so the upper layers of a stack are carried.
    """
    frames = (Q,) if X is None else (Q, X)
    offered = getattr(cell, "pushforward", None)
    if offered is not None and (X is None or "X" in inspect.signature(offered).parameters):
        return offered(h, x, *frames)
    flat, unravel = ravel_pytree(h)
    step = lambda flat, x=x: ravel_pytree(cell(unravel(flat), x))[0]
    following, linear = jax.linearize(step, flat, *(() if X is None else (x,)))
    return unravel(following), jax.vmap(linear, in_axes=1, out_axes=1)(*frames)


def jacobian(cell: Any, h: State, x: Input) -> Float[Array, "dimension dimension"]:
    r"""$J = \partial h' / \partial h$ as a matrix (never its transpose)."""
    size = dimension(cell)
    dtype = jnp.result_type(*jax.tree.leaves(h))
    return pushforward(cell, h, x, jnp.eye(size, dtype=dtype))[1]


def log_volume(cell: Any) -> LogVolume | None:
    r"""$\log|\det J|$ as a function of state and input, where a cell has a closed form."""
    return cell.log_volume() if hasattr(cell, "log_volume") else None


def dual_pushforward(cell: Any) -> Dual | None:
    r"""`(h, x, Q) -> h', P, X` with $P = J^{-\top} Q$ and $X = J_x^\top P$, in closed form.

    None where a cell has none. All is NaN where rounding hides the inverse.
    """
    return cell.dual_pushforward() if hasattr(cell, "dual_pushforward") else None


def inverse_transposed(W: Float[Array, "units units"]) -> Float[Array, "units units"]:
    r"""$W^{-\top}$, or NaN where `log_determinant` is."""
    return jnp.where(jnp.isnan(log_determinant(W)), jnp.nan, jnp.linalg.inv(W).T)


def log_determinant(W: Float[Array, "units units"]) -> Float[Array, ""]:
    r"""$\log|\det W|$, or NaN where rounding hides it: a matrix that is nearly singular.

    The pivots of $W = LU$ are known to $\epsilon (|L||U|)_{jj}$.
    """
    lu = jnp.abs(jax.lax.linalg.lu(W)[0])
    pivots = jnp.diagonal(lu)
    behind = jnp.sum(jnp.tril(lu, -1) * jnp.triu(lu, 1).T, axis=1) + pivots
    known = jnp.all(W.shape[0] ** 0.5 * behind <= 4e8 * pivots)  # 1e-7, in double
    return jnp.where(known, jnp.sum(jnp.log(pivots)), jnp.nan)


def dimension(cell: Any) -> int:
    """How many real numbers the state holds: 2N for an LSTM of N units."""
    return sum(jnp.size(leaf) for leaf in jax.tree.leaves(cell.initial_state()))


def output(cell: Any, h: State) -> Float[Array, " outputs"]:
    """What the next layer or the readout sees of a state."""
    return cell.output(h) if hasattr(cell, "output") else ravel_pytree(h)[0]


def input_size(cell: Any) -> int | None:
    """How many numbers an input holds, if the cell says so."""
    return getattr(cell, "input_size", None)


class AbstractWrapper(AbstractCell):
    """A cell round another one, with its states, outputs and inputs unless it says otherwise."""

    cell: eqx.AbstractVar[Any]

    def initial_state(self) -> State:
        return self.cell.initial_state()

    def output(self, h: State) -> Float[Array, " outputs"]:
        return output(self.cell, h)

    @property
    def input_size(self) -> int | None:
        return input_size(self.cell)


class LoopForm(NamedTuple):
    r"""$h' = R h + \gamma\,\rho(W_h h + W_x x + b)$, $\rho$ the identity where it is None.

    This and the records below are what `contraction_form()` gives to `rm.contraction`: a cell's
    own step with its numbers. A subclass does not inherit it, since it may step otherwise.
    """

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
