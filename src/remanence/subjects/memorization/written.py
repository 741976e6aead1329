r"""Weights written down: $h_i = \rho(W_h h_{i-1} + W_x x_i)$, $y_i = W_y h_i + b_y$.

NumPy arrays, or SciPy's sparse ones where the matrix would be too large, so that a string is
spelled without compiling anything. Integers, also Python's, are run exactly.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, issparse


Labels = tuple[int, ...]  # the symbols of one period, as numbers
DENSE = 1 << 18  # the largest number of entries that is written out as a matrix
LARGEST = 1 << 26  # the largest number of entries that JAX is given


@dataclasses.dataclass(frozen=True, eq=False)
class Written:
    """A generator's weights; `W_x` is None where nothing is read."""

    W_h: Any
    W_y: Any
    b_y: np.ndarray
    h_0: np.ndarray
    W_x: Any = None
    first: int = 0
    activation: Literal["linear", "tanh"] = "linear"

    @property
    def dimension(self) -> int:
        return len(self.h_0)

    @property
    def inputs(self) -> int:
        """How many tokens it reads; `<START>` is one more than it says."""
        return len(self.b_y) if self.W_x is None else self.W_x.shape[1]

    def astype(self, dtype: Any) -> "Written":
        """The same weights, rounded to another type."""
        arrays = {f: getattr(self, f) for f in ("W_h", "W_y", "b_y", "h_0", "W_x")}
        known = {f: a.astype(dtype) for f, a in arrays.items() if a is not None}
        return dataclasses.replace(self, **known)

    def step(self, h: np.ndarray, token: Any) -> np.ndarray:
        """The state after `h` and this token, or the states after several of them."""
        h = self.W_h @ h
        if self.W_x is not None:
            h = h + column(self.W_x, token)
        return np.tanh(h) if self.activation == "tanh" else h

    def run(
        self, steps: int, change: Callable[[np.ndarray], np.ndarray] = lambda h: h
    ) -> Iterator[tuple[np.ndarray, int]]:
        """The state and the symbol of every step, each symbol read at the next; `change`
        rounds or disturbs each state."""
        h, token = self.h_0, self.first
        for _ in range(steps):
            h = change(self.step(h, token))
            token = int((self.W_y @ h + self.b_y).argmax())
            yield h, token

    def emissions(self, steps: int, dtype: Any = None) -> np.ndarray:
        """The indices of the first `steps` symbols, in the arrays' own arithmetic
        or in a given floating type."""
        network = self if dtype is None else self.astype(dtype)
        return np.fromiter((token for _, token in network.run(steps)), np.int64, steps)

    def orbit(self, steps: int) -> np.ndarray:
        """The states $h_1 … h_T$ along the network's own emissions."""
        return np.array([h for h, _ in self.run(steps)])

    def network(self) -> Any:
        """The same weights as a `Generator` in JAX, in the precision of the scope."""
        import jax.numpy as jnp

        from ...cells import Elman, Linear
        from ...nets import Generator

        d = self.dimension
        if d * max(d, self.inputs) > LARGEST:
            raise ValueError(f"{d:,} units are too large for JAX; `emissions` runs without")
        of = lambda a: jnp.asarray(np.asarray(a.toarray() if issparse(a) else a, dtype=float))
        W_x = np.zeros((d, self.inputs)) if self.W_x is None else self.W_x
        make = Elman if self.activation == "tanh" else Linear
        cell = make(W_h=of(self.W_h), W_x=of(W_x))
        return Generator(cell, of(self.W_y), of(self.b_y), of(self.h_0), self.first)


def column(W: Any, k: Any) -> np.ndarray:
    """One column of a dense or sparse matrix, or several of a dense one."""
    return W[:, [k]].toarray()[:, 0] if issparse(W) else W[:, k]


def matrix(entries: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    """The matrix with these entries, dense unless it is too large."""
    found = csr_array((np.asarray(entries), (rows, columns)), shape=shape)
    return found.toarray() if shape[0] * shape[1] <= DENSE else found


def with_start(written: Written) -> Written:
    """The same network from a zero state: `<START>`, one more input token, sets it."""
    units, outputs = written.dimension, len(written.b_y)
    # What sets the state goes through the activation again.
    h_1 = dataclasses.replace(written, activation="linear").step(written.h_0, written.first)
    if written.W_x is not None:
        W_x = np.concatenate([written.W_x, h_1[:, None]], axis=1)
    else:
        W_x = matrix(h_1, np.arange(units), np.full(units, outputs), (units, outputs + 1))
    return dataclasses.replace(written, W_x=W_x, h_0=np.zeros_like(h_1), first=outputs)


def leads(y: np.ndarray, labels: Any) -> np.ndarray:
    """How far the right logit is above each other one, symbols × times; infinite for itself."""
    right, t = np.asarray(labels), np.arange(len(labels))
    lead = np.array(y[right, t] - y, dtype=float)
    lead[right, t] = np.inf
    return lead
