r"""Linear maps too large to be written out: $v \mapsto Wv$ in time proportional to $|v|$.

A word of 10,000 symbols has a permutation of $10^8$ entries; none is stored.
The maps take NumPy and JAX vectors alike.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..._types import Frame, Input, Vector
from ...cells import AbstractCell


DENSE = 1 << 18
"""The largest number of entries that is written out as a matrix."""


def _of(v: Any):
    return np if isinstance(v, np.ndarray) else jnp


class Cycle(eqx.Module):
    """The cyclic permutation by `stride`, times a gain."""

    size: int = eqx.field(static=True)
    stride: int = eqx.field(static=True, default=1)
    gain: float | int = eqx.field(static=True, default=1)

    def __matmul__(self, v: Any) -> Any:
        return self.gain * _of(v).roll(v, self.stride, axis=0)

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.size


class Companion(eqx.Module):
    r"""Multiplication by $x$ modulo $1 + x + \dots + x^d$, in $d$ units."""

    size: int = eqx.field(static=True)

    def __matmul__(self, v: Any) -> Any:
        xp = _of(v)
        return xp.concatenate([xp.zeros_like(v[:1]), v[:-1]]) - v[-1:]

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.size


class Turns(eqx.Module):
    """Rotations in separate planes, by their cosines and sines."""

    cos: Any
    sin: Any

    def __matmul__(self, v: Any) -> Any:
        xp = _of(v)
        a, b = v[0::2].T, v[1::2].T
        c, s = (xp.asarray(u, dtype=v.dtype) for u in (self.cos, self.sin))
        return xp.stack([c * a - s * b, s * a + c * b], axis=-1).reshape(v.T.shape).T

    @property
    def shape(self) -> tuple[int, int]:
        return 2 * len(self.cos), 2 * len(self.cos)


class Spelled(eqx.Module):
    """The readout whose column at t is the one-hot vector of symbol t."""

    symbols: Any
    outputs: int = eqx.field(static=True)

    def __matmul__(self, v: Any) -> Any:
        if isinstance(v, np.ndarray):
            y = np.zeros((self.outputs, *v.shape[1:]), v.dtype)
            np.add.at(y, np.asarray(self.symbols), v)
            return y
        return jnp.zeros((self.outputs, *v.shape[1:]), v.dtype).at[self.symbols].add(v)

    @property
    def shape(self) -> tuple[int, int]:
        return self.outputs, len(self.symbols)


class Balanced(eqx.Module):
    r"""The readout $p\,e_{w_t} - \text{counts}$ at column t, for t < p."""

    spelled: Spelled
    counts: Any

    def __matmul__(self, v: Any) -> Any:
        counts = _of(v).asarray(self.counts, dtype=v.dtype)
        return (len(self.spelled.symbols) + 1) * (self.spelled @ v) - counts * v.sum()

    @property
    def shape(self) -> tuple[int, int]:
        return self.spelled.shape


class Beginning(eqx.Module):
    """An input map deaf to all but the last token, which sets the state."""

    state: Any
    inputs: int = eqx.field(static=True)

    def __matmul__(self, x: Any) -> Any:
        return _of(x).asarray(self.state, dtype=x.dtype) * x[-1]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.state), self.inputs


class Structured(AbstractCell):
    """A linear or tanh cell whose matrices are structured maps."""

    W_h: Any
    W_x: Any
    tanh: bool = eqx.field(static=True, default=False)
    like: Vector | None = None
    """An empty vector that carries the floating type."""

    def _drive(self, h: Vector, x: Input) -> Vector:
        z = self.W_h @ h
        return z if x is None or self.W_x is None else z + self.W_x @ x

    def __call__(self, h: Vector, x: Input) -> Vector:
        z = self._drive(h, x)
        return jnp.tanh(z) if self.tanh else z

    def pushforward(self, h: Vector, x: Input, Q: Frame) -> tuple[Vector, Frame]:
        following, JQ = self(h, x), self.W_h @ Q
        return following, (1 - following**2)[:, None] * JQ if self.tanh else JQ

    def initial_state(self) -> Vector:
        return jnp.zeros(self.W_h.shape[0], None if self.like is None else self.like.dtype)
