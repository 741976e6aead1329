"""A cell from its matrices, whatever the order of the gates in the file that they come from.

Matrices are gates × inputs and gates × units; our blocks are in torch's order, i, f, g, o (LSTM)
and r, z, n (GRU). Activations have the names by which ONNX and Keras know them.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..cells import Elman, GeneralGRU, GeneralLSTM, GRU, LSTM


KINDS = {1: "RNN", 3: "GRU", 4: "LSTM"}
"""The kind of a layer by how many blocks its matrices have."""
GATES = {kind: count for count, kind in KINDS.items()}
ORDERS = {
    "torch": {"GRU": (0, 1, 2), "LSTM": (0, 1, 2, 3)},
    "onnx": {"GRU": (1, 0, 2), "LSTM": (0, 2, 3, 1)},
    "keras": {"GRU": (1, 0, 2), "LSTM": (0, 1, 2, 3)},
}
"""Where our blocks stand in files: ONNX has i, o, f, c and Keras i, f, c, o; both have z, r, h."""
USUAL: dict[str, tuple[Callable, ...]] = {
    "RNN": (jnp.tanh,),
    "GRU": (jax.nn.sigmoid, jnp.tanh),
    "LSTM": (jax.nn.sigmoid, jnp.tanh, jnp.tanh),
}


def kind_of(title: str, W_x: np.ndarray | None, W_h: np.ndarray | None, units: int = 0) -> str:
    """RNN, GRU or LSTM by the shapes of the two matrices, which are checked."""
    if W_x is None or W_h is None:
        missing = "inputs" if W_x is None else "states"
        raise ValueError(f"the matrix of {title} that takes its {missing} is missing")
    if W_x.ndim != 2 or W_h.ndim != 2 or len(W_x) != len(W_h):
        raise ValueError(
            f"{title} takes inputs by a matrix {W_x.shape} and states by one {W_h.shape}; "
            "two with as many rows as each other would do"
        )
    gates, width = W_h.shape
    units = units or width
    if not units or gates % units or gates // units not in KINDS:
        raise ValueError(
            f"{title} takes states by a matrix {gates} × {width}; N, 3N or 4N rows for N "
            "units would do"
        )
    return KINDS[gates // units]


def recurrent_cell(
    title: str,
    kind: str,
    W_x: np.ndarray,
    W_h: np.ndarray,
    b_x: np.ndarray | None = None,
    b_h: np.ndarray | None = None,
    functions: tuple[Callable, ...] = (),
    *,
    order: str = "torch",
    reset_after: bool = True,
    projection: np.ndarray | None = None,
    peepholes: np.ndarray | None = None,
    coupled: bool = False,
) -> Any:
    """The plainest cell that computes it; biases are of the input's and of the state's side."""
    gates = len(W_h)
    for b in (b_x, b_h):
        if b is not None and b.shape != (gates,):
            raise ValueError(f"a bias of {title} has shape {b.shape}; ({gates},) would do")
    blocks = np.split(np.arange(gates), GATES[kind])
    rows = np.concatenate([blocks[i] for i in ORDERS[order].get(kind, (0,))])
    b, b_h = (None if b is None else b[rows] for b in (b_x, b_h))
    functions = functions or USUAL[kind]
    usual, b_n = functions == USUAL[kind], None
    if b is not None and b_h is not None:
        # The candidate's recurrent bias of a GRU stands inside the reset, so it stays apart.
        inside = (np.arange(gates) >= 2 * W_h.shape[1]) & (kind == "GRU")
        b, b_n = b + np.where(inside, 0, b_h), b_h[inside] if kind == "GRU" else None
    H, X = jnp.asarray(W_h[rows]), jnp.asarray(W_x[rows])
    optional = (b, b_n, projection, peepholes)
    c, c_n, P, p = (None if a is None else jnp.asarray(a) for a in optional)
    match kind:
        case "RNN":
            return Elman(H, X, c, functions[0])
        case "LSTM" if usual and P is None and p is None and not coupled:
            return LSTM(H, X, c)
        case "LSTM":
            return GeneralLSTM(H, X, c, P, p, functions, coupled)  # pyright: ignore[reportArgumentType]
        case _ if usual and reset_after:
            return GRU(H, X, c, c_n)
    return GeneralGRU(H, X, c, c_n, reset_after, functions)  # pyright: ignore[reportArgumentType]


Values = Float[Array, "..."]
PLAIN: dict[str, Callable] = {
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "relu": jax.nn.relu,
    "softsign": jax.nn.soft_sign,
    "softplus": jax.nn.softplus,
    "linear": lambda z: z,
    "selu": jax.nn.selu,
    "silu": jax.nn.silu,
    "swish": jax.nn.silu,
    "exponential": jnp.exp,
}
SHAPED: dict[str, tuple[Callable, float, float | None]] = {
    "affine": (lambda z, a, b: a * z + b, 1.0, 0.0),
    "leakyrelu": (lambda z, a, _: jnp.where(z >= 0, z, a * z), 0.01, None),
    "thresholdedrelu": (lambda z, a, _: jnp.where(z > a, z, 0), 1.0, None),
    "scaledtanh": (lambda z, a, b: a * jnp.tanh(b * z), 1.0, 1.0),
    "hardsigmoid": (lambda z, a, b: jnp.clip(a * z + b, 0, 1), 0.2, 0.5),
    "elu": (lambda z, a, _: jnp.where(z >= 0, z, a * jnp.expm1(z)), 1.0, None),
}
"""Functions of alpha, or of alpha and beta, with ONNX's defaults."""


@dataclasses.dataclass(frozen=True)
class Shaped:
    """A function with its numbers; equal ones are one function to a compiler."""

    name: str
    alpha: float
    beta: float | None = None

    def __call__(self, z: Values) -> Values:
        return SHAPED[self.name][0](z, self.alpha, self.beta)


@dataclasses.dataclass(frozen=True)
class Clipped:
    """A function of what lies within plus and minus a bound."""

    function: Callable
    bound: float

    def __call__(self, z: Values) -> Values:
        return self.function(jnp.clip(z, -self.bound, self.bound))
