r"""Gates that choose what a channel keeps: Mamba, Mamba-2, RG-LRU, minGRU and minLSTM.

Gu and Dao (2023), Dao and Gu (2024), De et al. (2024), Feng et al. (2024).
"""

import abc
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .linear_recurrence import AbstractGates


def unit_rms(x: Array, eps: float) -> Array:
    """The last axis scaled to a root mean square of one."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + eps)


class Mamba(AbstractGates):
    r"""$S' = e^{-e^{A_{\log}} \Delta} S + \Delta u B^\top$, $y = S C + D u$.

    $(\Delta, B, C)$ come from $u$; `eps`, where there is one, normalises them first (Falcon Mamba).
    """

    A_log: Float[Array, "channels states"]
    D: Float[Array, " channels"]
    W_x: Float[Array, "parts channels"]
    W_dt: Float[Array, "channels rank"]
    b_dt: Float[Array, " channels"]
    eps: float | None = eqx.field(static=True, default=None)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.A_log.shape

    @property
    def rate(self) -> Array:
        return -jnp.exp(self.A_log)

    def _parts(self, u: Array) -> list[Array]:
        rank, states = self.W_dt.shape[1], self.A_log.shape[1]
        parts = jnp.split(self.W_x @ u, [rank, rank + states])
        return parts if self.eps is None else [unit_rms(p, self.eps) for p in parts]

    def clock(self, u: Array) -> Array:
        return jax.nn.softplus(self.W_dt @ self._parts(u)[0] + self.b_dt)[:, None]

    def write(self, u: Array) -> Array:
        return self.clock(u) * u[:, None] * self._parts(u)[1]

    def read(self, before: Array, after: Array, u: Array) -> Array:
        return after @ self._parts(u)[2] + self.D * u


class Mamba2(AbstractGates):
    r"""$S_h' = e^{-e^{A_{\log,h}} \Delta_h} S_h + \Delta_h x_h B^\top$; $u = (x, B, C, \Delta)$.

    `B` and `C` are shared by the heads of a group.
    """

    A_log: Float[Array, " heads"]
    D: Float[Array, " heads"]
    dt_bias: Float[Array, " heads"]
    size: int = eqx.field(static=True)
    """Channels of a head."""
    states: int = eqx.field(static=True)
    groups: int = eqx.field(static=True, default=1)
    limits: tuple[float, float] = eqx.field(static=True, default=(0.0, float("inf")))

    @property
    def shape(self) -> tuple[int, int, int]:
        return (len(self.A_log), self.size, self.states)

    @property
    def width(self) -> int:
        H, p, n = self.shape
        return H * p + 2 * self.groups * n + H

    @property
    def rate(self) -> Array:
        return -jnp.exp(self.A_log)[:, None, None]

    def clock(self, u: Array) -> Array:
        dt = jax.nn.softplus(u[-len(self.A_log) :] + self.dt_bias)
        return jnp.clip(dt, *self.limits)[:, None, None]

    def _parts(self, u: Array) -> tuple[Array, Array, Array]:
        H, p, n = self.shape
        x, B, C, _ = jnp.split(u, [H * p, H * p + self.groups * n, H * p + 2 * self.groups * n])
        each = lambda part: jnp.repeat(part.reshape(self.groups, n), H // self.groups, 0)
        return x.reshape(H, p), each(B), each(C)

    def write(self, u: Array) -> Array:
        x, B, _ = self._parts(u)
        return self.clock(u) * x[:, :, None] * B[:, None, :]

    def read(self, before: Array, after: Array, u: Array) -> Array:
        x, _, C = self._parts(u)
        return (jnp.einsum("hpn,hn->hp", after, C) + self.D[:, None] * x).ravel()


class RGLRU(AbstractGates):
    r"""$h' = a h + \sqrt{1 - a^2}\, i \odot u$, $a = e^{-8\,\mathrm{softplus}(\Lambda) r}$.

    The gates $r$ and $i$ are sigmoids of block-diagonal maps of $u$.
    """

    Lambda: Float[Array, " units"]
    W_r: Float[Array, "blocks size size"]
    b_r: Float[Array, "blocks size"]
    W_i: Float[Array, "blocks size size"]
    b_i: Float[Array, "blocks size"]
    resets: bool = eqx.field(static=True, default=False)
    """Whether the first input of a text is written whole, as RecurrentGemma does."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.Lambda.shape

    def clock(self, u: Array) -> Array:
        r = self._sigmoid(u, self.W_r, self.b_r)
        return -8.0 * jax.nn.softplus(self.Lambda) * r

    def write(self, u: Array) -> Array:
        # The root has no slope where a = 1, which a closed gate reaches in rounding.
        left = -jnp.expm1(2 * self.clock(u))
        return jnp.sqrt(jnp.maximum(left, 1e-30)) * self._gated_input(u)

    def write_first(self, u: Array) -> Array:
        return self._gated_input(u) if self.resets else self.write(u)

    def _gated_input(self, u: Array) -> Array:
        return self._sigmoid(u, self.W_i, self.b_i) * u

    @staticmethod
    def _sigmoid(u: Array, W: Array, b: Array) -> Array:
        blocks = u.reshape(b.shape)
        return jax.nn.sigmoid(jnp.einsum("bi,bij->bj", blocks, W) + b).ravel()


def positive(x: Array) -> Array:
    """x + 1/2 above zero, a sigmoid below: the candidate of the minimal cells."""
    return jnp.where(x >= 0, x + 0.5, jax.nn.sigmoid(x))


class AbstractMinimal(AbstractGates):
    r"""$h' = (1 - z) h + z\, g(\tilde h)$, $z$ a sigmoid of the `odds` that $u = (\tilde h, ...)$ sets."""

    units: eqx.AbstractVar[int]
    parts: eqx.AbstractClassVar[int]

    @abc.abstractmethod
    def odds(self, u: Array) -> Array:
        r"""$\log z / (1 - z)$."""

    @property
    def shape(self) -> tuple[int]:
        return (self.units,)

    @property
    def width(self) -> int:
        return self.parts * self.units

    def clock(self, u: Array) -> Array:
        return -jax.nn.softplus(self.odds(u))

    def write(self, u: Array) -> Array:
        return jax.nn.sigmoid(self.odds(u)) * positive(u[: self.units])


class MinGRU(AbstractMinimal):
    r"""$u = (\tilde h, \log z / (1 - z))$."""

    units: int = eqx.field(static=True)
    parts: ClassVar[int] = 2

    def odds(self, u: Array) -> Array:
        return u[self.units :]


class MinLSTM(AbstractMinimal):
    r"""$z = i / (f + i)$ with $u = (\tilde h, f, i)$, gates behind sigmoids."""

    units: int = eqx.field(static=True)
    parts: ClassVar[int] = 3

    def odds(self, u: Array) -> Array:
        _, f, i = jnp.split(u, 3)
        return jax.nn.log_sigmoid(i) - jax.nn.log_sigmoid(f)
