r"""Gates over a matrix a head, $S' = A \odot S + k v^\top$: GLA, RetNet, RWKV-4, -5, -6, mLSTM.

Yang et al. (2024), Sun et al. (2023), Peng et al. (2023, 2024), Beck et al. (2024).
Stabilisers (a running maximum) are a gauge and no state: the states here are the true
ones, which double precision holds.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .linear_recurrence import AbstractGates, AbstractHeadGates, Heads


class AbstractLinearAttention(AbstractHeadGates, AbstractGates):
    r"""$k v^\top$ is written and $q^\top S$ is read."""

    def write(self, u: Array) -> Array:
        k, v = self.split(u)[1:3]
        return k[:, :, None] * v[:, None, :]


class GLA(AbstractLinearAttention):
    r"""$A = \sigma(\alpha)^{1/\tau}$, one number a key, $u = (q, k, v, \alpha)$."""

    heads: Heads
    temperature: float = eqx.field(static=True, default=16.0)

    @property
    def rest(self) -> tuple[int]:
        return (self.heads.count * self.heads.keys,)

    def clock(self, u: Array) -> Array:
        log_a = jax.nn.log_sigmoid(self.split(u)[3]) / self.temperature
        return log_a.reshape(self.heads.count, self.heads.keys, 1)


class RetNet(AbstractLinearAttention):
    r"""$A = \gamma_h$, one constant a head, $u = (q, k, v)$."""

    heads: Heads
    gamma: Float[Array, " heads"]

    def clock(self, u: Array) -> Array:
        return jnp.log(self.gamma)[:, None, None]


class RWKV6(AbstractLinearAttention):
    r"""$A = e^{-e^w}$, one number a key, $y = r^\top (S + \mathrm{diag}(b)\, k v^\top)$.

    With `decay` it is RWKV-5: a constant, $u = (r, k, v)$. Without, $u = (r, k, v, w)$.
    """

    heads: Heads
    bonus: Float[Array, "heads keys"]
    decay: Float[Array, "heads keys"] | None = None

    @property
    def rest(self) -> tuple[int, ...]:
        return () if self.decay is not None else (self.heads.count * self.heads.keys,)

    def clock(self, u: Array) -> Array:
        w = self.split(u)[3].reshape(self.bonus.shape) if self.decay is None else self.decay
        return -jnp.exp(w)[:, :, None]

    def read(self, before: Array, after: Array, u: Array) -> Array:
        now = before + self.bonus[:, :, None] * self.write(u)
        return jnp.einsum("hk,hkv->hv", self.split(u)[0], now).ravel()


class MLSTM(AbstractLinearAttention):
    r"""$(C, n)' = \sigma(f) (C, n) + e^i k (v, 1)^\top$, $y = q^\top C / \max(|q^\top n|, 1)$.

    $u = (q, k, v, i, f)$; gates are capped softly, $c \tanh(x / c)$. The normaliser $n$ is
    the last column of the state.
    """

    heads: Heads
    cap: float = eqx.field(static=True, default=15.0)
    eps: float = eqx.field(static=True, default=1e-6)

    @property
    def rest(self) -> tuple[int, int]:
        return (self.heads.count, self.heads.count)

    @property
    def shape(self) -> tuple[int, int, int]:
        return (self.heads.count, self.heads.keys, self.heads.values + 1)

    def _capped(self, gate: Array) -> Array:
        return self.cap * jnp.tanh(gate / self.cap)

    def clock(self, u: Array) -> Array:
        return jax.nn.log_sigmoid(self._capped(self.split(u)[4]))[:, None, None]

    def write(self, u: Array) -> Array:
        _, k, v, i, _ = self.split(u)
        v = jnp.concatenate([v, jnp.ones_like(v[:, :1])], 1)
        return jnp.exp(self._capped(i))[:, None, None] * k[:, :, None] * v[:, None, :]

    def read(self, before: Array, after: Array, u: Array) -> Array:
        q = self.split(u)[0] * self.heads.keys**-0.5
        both = jnp.einsum("hk,hkv->hv", q, after)
        scale = jnp.maximum(jnp.abs(both[:, -1:]), 1.0) + self.eps
        return (both[:, :-1] / scale).ravel()


class RWKV4(AbstractGates):
    r"""$(a, b)' = e^{-e^w} (a, b) + e^k (v, 1)$ for each channel, $u = (k, v)$.

    Read as $(a + e^{b_0 + k} v) / (b + e^{b_0 + k})$, of the state before the step.
    """

    decay: Float[Array, " channels"]
    bonus: Float[Array, " channels"]

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.decay), 2)

    @property
    def width(self) -> int:
        return 2 * len(self.decay)

    def clock(self, u: Array) -> Array:
        return -jnp.exp(self.decay)[:, None]

    def write(self, u: Array) -> Array:
        k, v = jnp.split(u, 2)
        return jnp.exp(k)[:, None] * jnp.stack([v, jnp.ones_like(v)], 1)

    def read(self, before: Array, after: Array, u: Array) -> Array:
        k, v = jnp.split(u, 2)
        e = jnp.exp(self.bonus + k)
        return (before[:, 0] + e * v) / (before[:, 1] + e)
