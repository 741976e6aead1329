r"""Weights written down: $h_i = \rho(W_h h_{i-1} + W_x x_i)$, $y_i = W_y h_i + b_y$.

As NumPy arrays (or structured maps), so that a string is spelled without
compiling anything. Integer arrays, also of Python integers, are run exactly.
"""

import dataclasses
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from scipy.linalg import block_diag

from ...cells import Elman, Linear
from ...nets import Generator
from .structured import Beginning, DENSE, Structured


@dataclasses.dataclass(frozen=True, eq=False)
class Written:
    """A generator's weights; `W_x` is None where nothing is heard."""

    W_h: Any
    W_y: Any
    b_y: np.ndarray
    h_0: np.ndarray
    W_x: Any = None
    first: int = 0
    activation: Literal["linear", "tanh"] = "linear"
    inputs: int = 0

    @property
    def dimension(self) -> int:
        return len(self.h_0)

    def emissions(self, steps: int, dtype: Any = None) -> np.ndarray:
        """The indices of the first `steps` symbols, in the arrays' own arithmetic
        or in a given floating type."""
        cast = (lambda a: a) if dtype is None else (lambda a: _cast(a, dtype))
        W_h, W_y, b_y, h = (cast(a) for a in (self.W_h, self.W_y, self.b_y, self.h_0))
        W_x = None if self.W_x is None else cast(columns(self.W_x, self.inputs))
        said = np.empty(steps, dtype=np.int64)
        token = self.first
        for i in range(steps):
            h = W_h @ h
            if W_x is not None:
                h = h + W_x[token]
            if self.activation == "tanh":
                h = np.tanh(h)
            token = int((W_y @ h + b_y).argmax())
            said[i] = token
        return said

    def orbit(self, steps: int) -> np.ndarray:
        """The states $h_1 … h_T$ along the network's own emissions."""
        W_x = None if self.W_x is None else columns(self.W_x, self.inputs)
        h, token, states = self.h_0, self.first, []
        for _ in range(steps):
            h = self.W_h @ h
            if W_x is not None:
                h = h + W_x[token]
            if self.activation == "tanh":
                h = np.tanh(h)
            token = int((self.W_y @ h + self.b_y).argmax())
            states.append(h)
        return np.array(states)

    def network(self) -> Generator:
        """The same weights as a JAX network, in the precision of the scope."""
        of = lambda a: jnp.asarray(np.asarray(a, dtype=float)) if isinstance(a, np.ndarray) else a
        inputs = self.inputs or len(self.b_y)
        h_0 = of(self.h_0)
        if isinstance(self.W_h, np.ndarray):
            W_x = np.zeros((self.dimension, inputs)) if self.W_x is None else self.W_x
            make = Elman if self.activation == "tanh" else Linear
            cell = make(W_h=of(self.W_h), W_x=of(W_x))
        else:
            tanh = self.activation == "tanh"
            cell = Structured(self.W_h, of(self.W_x), tanh=tanh, like=h_0[:0])
        return Generator(cell, of(self.W_y), of(self.b_y), h_0, self.first)


def _cast(a: Any, dtype: Any) -> Any:
    if isinstance(a, np.ndarray):
        return a.astype(dtype)
    return [column.astype(dtype) for column in a] if isinstance(a, list) else a


def columns(W_x: Any, inputs: int) -> list[np.ndarray]:
    """What each input token adds to the state."""
    if isinstance(W_x, np.ndarray):
        return list(W_x.T)
    silent = np.zeros_like(W_x.state)
    return [silent] * (inputs - 1) + [W_x.state]


def begun(written: Written, outputs: int) -> Written:
    """The same network from a zero state: `<START>`, one more input token, sets it."""
    heard = None if written.W_x is None else columns(written.W_x, outputs)
    h_1 = written.W_h @ written.h_0
    if heard is not None:
        h_1 = h_1 + heard[written.first]
    silent = np.zeros_like(h_1)
    if len(h_1) * outputs > DENSE:
        W_x = Beginning(h_1, outputs + 1)
    else:
        W_x = np.stack([*(heard or [silent] * outputs), h_1], axis=1)
    return dataclasses.replace(written, W_x=W_x, h_0=silent, first=outputs, inputs=outputs + 1)


def blocks(*matrices: np.ndarray) -> np.ndarray:
    """Block-diagonal, the type kept."""
    return np.asarray(block_diag(*matrices), dtype=matrices[0].dtype)
