r"""Recurrences that are linear in their own state, $S' = A(u) \odot S + \mathrm{write}(u)$.

$A$ is set by the input alone: one number, one a channel or one a head,
$\log A = \mathrm{rate} \odot \mathrm{clock}(u)$. Mamba, Mamba-2, RG-LRU, minGRU, minLSTM
(`selective.py`), GLA, RetNet, RWKV-4, -5, -6 and the mLSTM (`linear_attention.py`) have gates of
their own. The tangent map is $A$, so Lyapunov exponents are the means of $\log A$ along the inputs.
"""

import abc
import itertools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from .._types import Input, Key
from .base import AbstractCell, LogVolume


class AbstractGates(eqx.Module):
    """What one input does to the state of a linear recurrence, and what is read of it."""

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Of the state."""

    @property
    def width(self) -> int:
        """How many numbers an input `u` holds: one a row of the state, unless a kind differs."""
        return self.shape[0]

    @property
    def rate(self) -> Array | float:
        """What multiplies the clock of every state; 1 where the clock says it all."""
        return 1.0

    @abc.abstractmethod
    def clock(self, u: Float[Array, " inputs"]) -> Float[Array, "..."]:
        """`rate * clock` is the logarithm of the decay; it broadcasts to the state."""

    @abc.abstractmethod
    def write(self, u: Float[Array, " inputs"]) -> Float[Array, "..."]:
        """What is added to the state."""

    def write_first(self, u: Float[Array, " inputs"]) -> Float[Array, "..."]:
        """What is written into a state that is all zeros."""
        return self.write(u)

    def read(self, before: Array, after: Array, u: Array) -> Float[Array, " outputs"]:
        """What a layer sees of the states before and after the step."""
        return after


class AbstractGatedCell(AbstractCell):
    """Gates that are set by the input alone, as a cell.

    `W_in` turns an input into what the gates take, if it is there.
    """

    gates: eqx.AbstractVar[Any]
    W_in: eqx.AbstractVar[Float[Array, "gates inputs"] | None]

    @classmethod
    def init(cls: Any, gates: Any, inputs: int, *, key: Key, gain: float = 1.0) -> Any:
        """The gates behind a Gaussian input map."""
        return cls(gates, gain * inputs**-0.5 * jr.normal(key, (gates.width, inputs)))

    def _gate_inputs(self, x: Input) -> Array:
        if x is None:
            raise ValueError("the gates are set by an input, and none came")
        return x if self.W_in is None else self.W_in @ x

    def initial_state(self) -> Float[Array, "..."]:
        leaves = jax.tree.leaves(eqx.filter(self, eqx.is_inexact_array))
        dtype = jnp.result_type(*leaves) if leaves else jnp.result_type(float)
        return jnp.zeros(self.gates.shape, dtype)

    @property
    def input_size(self) -> int:
        return self.gates.width if self.W_in is None else self.W_in.shape[1]


class LinearRecurrence(AbstractGatedCell):
    """Any gates of a linear recurrence as a cell.

    >>> from remanence.cells.selective import MinGRU
    >>> cell = LinearRecurrence(MinGRU(units=1))
    >>> h = cell(jnp.ones(1), jnp.zeros(2))
    >>> h.tolist(), [round(a, 4) for a in cell.log_decays(h, jnp.zeros(2)).tolist()]
    ([0.75], [-0.6931])
    """

    gates: AbstractGates
    W_in: Float[Array, "gates inputs"] | None = None

    def __call__(self, h: Float[Array, "..."], x: Input) -> Float[Array, "..."]:
        return jnp.exp(self.log_decays(h, x)) * h + self._write(h, self._gate_inputs(x))

    def _write(self, h: Array, u: Array) -> Array:
        empty = jnp.all(h == 0)
        return jnp.where(empty, self.gates.write_first(u), self.gates.write(u))

    def log_decays(self, h: Any, x: Input) -> Float[Array, "..."]:
        """The logarithm of what one step leaves of the state; it broadcasts to the state."""
        return self.rate * self.clock(h, x)

    def clock(self, h: Any, x: Input) -> Float[Array, "..."]:
        """What `rate` multiplies to give the decays: fewer numbers than they are."""
        return self.gates.clock(self._gate_inputs(x))

    @property
    def rate(self) -> Array | float:
        """The constant part of the decays."""
        return self.gates.rate

    def log_volume(self) -> LogVolume:
        return lambda h, x: jnp.sum(jnp.broadcast_to(self.log_decays(h, x), self.gates.shape))

    def along(self, h: Float[Array, "..."], us: Float[Array, "time inputs"]) -> tuple[Array, Array]:
        """The states after every step, by a parallel scan, and what is read of them.

        `us` are what the gates take: `W_in` is for the cell alone.
        """
        log_a = self.gates.rate * jax.vmap(self.gates.clock)(us)
        a = jnp.broadcast_to(jnp.exp(log_a), (len(us), *log_a.shape[1:]))
        b = jax.vmap(self.gates.write)(us)
        b = b.at[0].set(self._write(h, us[0]) + a[0] * h)
        join = lambda one, two: (two[0] * one[0], two[0] * one[1] + two[1])
        after = jax.lax.associative_scan(join, (a, b))[1]
        before = jnp.concatenate([h[None], after[:-1]])
        return after, jax.vmap(self.gates.read)(before, after, us)


class Heads(eqx.Module):
    """How many heads there are, and how long their keys and values."""

    count: int = eqx.field(static=True)
    keys: int = eqx.field(static=True)
    values: int = eqx.field(static=True)


class AbstractHeadGates(eqx.Module):
    """Gates whose input is `u = (q, k, v, ...)`; the rest has the lengths `rest`."""

    heads: eqx.AbstractVar[Heads]

    @property
    def rest(self) -> tuple[int, ...]:
        """Nothing follows, unless a kind says otherwise."""
        return ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the state."""
        return (self.heads.count, self.heads.keys, self.heads.values)

    @property
    def width(self) -> int:
        """How many numbers an input `u` holds."""
        return self.heads.count * (2 * self.heads.keys + self.heads.values) + sum(self.rest)

    def split(self, u: Any) -> list[Any]:
        """(q, k, v, ...), the first three with a row a head; of arrays or of intervals."""
        H, n, m = self.heads.count, self.heads.keys, self.heads.values
        edges = itertools.accumulate([0, H * n, H * n, H * m, *self.rest])
        q, k, v, *others = (u[i:j] for i, j in itertools.pairwise(edges))
        return [q.reshape(H, n), k.reshape(H, n), v.reshape(H, m), *others]

    def read(self, before: Array, after: Array, u: Array) -> Array:
        r"""$q^\top S$, head by head, unless a kind says otherwise."""
        return jnp.einsum("hk,hkv->hv", self.split(u)[0], after).ravel()
