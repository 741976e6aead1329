r"""How much memory a checkup takes, estimated before it starts, and wide inputs made narrow.

Four units are moved by four combinations of 200,000 inputs: $W_x x = R^\top (Q^\top x)$ with $W_x^\top = Q R$,
where orthonormal columns of $Q$ leave what is measured as it is.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._cores import available_bytes
from .._precision import double
from ..cells import dimension, Elman, GRU, input_size, Linear, LSTM, Stack
from ..nets import Recurrent


WIDE = 1024  # inputs below which nothing is saved
CHUNK = 2**24  # numbers converted at once
PROGRAMS = 500_000_000  # bytes of the interpreter, JAX and compiled programs
GATHERED = 48 * 257  # inputs kept for the gradients, from that many places and lags


def refuse_too_large(net: Any, shape: tuple[int, int, int], k: int | None = None) -> None:
    """Refuse inputs of `sequences x time x width` whose checkup cannot fit."""
    needed, free = estimated_bytes(net, shape, k), available_bytes()
    if free is not None and needed > free:
        extent = " x ".join(f"{n:,}" for n in shape)
        raise ValueError(
            f"a checkup of inputs of shape {extent} takes about {needed / 1e9:,.1f} GB, and "
            f"{free / 1e9:,.1f} GB are free; fewer steps (--steps) would do"
        )


def extent(net: Any, values: np.ndarray) -> tuple[int, int, int]:
    """The sequences, steps and numbers a step of inputs or tokens."""
    table = net.embedding if np.issubdtype(values.dtype, np.integer) else None
    shape = (1, 1, 1, *values.shape, *(() if table is None else table.shape[1:]))
    return shape[-3], shape[-2], shape[-1]


def estimated_bytes(net: Any, shape: tuple[int, int, int], k: int | None = None) -> int:
    """The largest arrays of a checkup in double precision, as many copies as were seen."""
    sequences, time, width = shape
    size = dimension(net.cell)
    outputs = eqx.filter_eval_shape(net.read, net.cell.initial_state()).size
    acting = acting_inputs(net, width)
    steps = sequences * time * (width + 6 * acting + 6 * size + 5 * outputs)
    frames = 3 * sequences * size * (size if k is None else k) + 8 * size * size
    return PROGRAMS + 8 * (steps + frames + GATHERED * acting)


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
    where = (lambda n: n.cell.cells[0].W_x) if stacked else (lambda n: n.cell.W_x)
    Q, R = np.linalg.qr(np.asarray(where(net), np.float64).T)
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
