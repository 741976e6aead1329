r"""Wide inputs in as few numbers as act: $W_x x = R^\top (Q^\top x)$ with $W_x^\top = Q R$.

A network of four units and 200,000 inputs is moved by four combinations of them. Since the
columns of $Q$ are orthonormal, states, windows, exponents and the norms of gradients stay what
they are, white noise stays white, and memory follows the units instead of the inputs.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._precision import double
from ..cells import Elman, GRU, input_size, Linear, LSTM, Stack
from ..nets import Recurrent


WIDE = 1024  # inputs below which nothing is saved
CHUNK = 2**24  # numbers converted at once


def acting_inputs(net: Recurrent, width: int) -> int:
    """How many numbers a step are measured on: the inputs, or the combinations that act."""
    first: Any = net.cell.cells[0] if isinstance(net.cell, Stack) else net.cell
    if type(first) not in (Elman, GRU, Linear, LSTM):
        return width
    rows = first.W_x.shape[0]
    return rows if width >= max(WIDE, 2 * rows) else width


def in_acting_inputs(net: Recurrent, values: np.ndarray) -> tuple[Recurrent, np.ndarray, str]:
    """The network on the combinations of its inputs that act, and a sentence about it."""
    width = input_size(net.cell) or 0
    rows, stacked = acting_inputs(net, width), isinstance(net.cell, Stack)
    tokens = np.issubdtype(values.dtype, np.integer)
    if rows == width or not (tokens or values.shape[-1:] == (width,)):
        return net, values, ""
    first: Any = net.cell.cells[0] if stacked else net.cell
    Q, R = np.linalg.qr(np.asarray(first.W_x, np.float64).T)
    where = (lambda n: n.cell.cells[0].W_x) if stacked else (lambda n: n.cell.W_x)
    with double():
        net = eqx.tree_at(where, net, jnp.asarray(R.T))
        if net.embedding is not None:
            net = eqx.tree_at(lambda n: n.embedding, net, jnp.asarray(_product(net.embedding, Q)))
    if not tokens:
        values = _product(values, Q)
    sentence = (
        f"The {width:,} inputs act through {rows} combinations of them, which were measured; "
        "bounds on |x| are bounds on these."
    )
    return net, values, sentence


def _product(values: Any, Q: np.ndarray) -> np.ndarray:
    """`values @ Q` in double, some rows at a time."""
    rows = np.asarray(values).reshape(-1, Q.shape[0])
    step = max(1, CHUNK // Q.shape[0])
    parts = [rows[i : i + step].astype(np.float64) @ Q for i in range(0, len(rows), step)]
    return np.concatenate(parts).reshape(*np.shape(values)[:-1], Q.shape[1])
