r"""Recurrences that overwrite: $S_h' = (\mathrm{diag}(d) - p q^\top) S_h + k v^\top$, a matrix a head.

DeltaNet, gated DeltaNet and Kimi's KDA have $A = (I - \beta k k^\top)\mathrm{diag}(\alpha)$, RWKV-7 has
$A = \mathrm{diag}(w) - (a \odot \hat\kappa) \hat\kappa^\top$ (Schlag et al. 2021, Yang et al. 2024,
Kimi 2025, Peng et al. 2025). The tangent map is $A \otimes I$: a head's exponents are those of the
keys x keys product, each as often as a value is long, and
$\log|\det A| = \sum \log d + \log|1 - \sum p q / d|$.
"""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import Input
from .base import LogVolume
from .linear_recurrence import AbstractGatedCell, AbstractHeadGates, Heads


Transition = tuple[Array, Array, Array]


class AbstractDeltaGates(AbstractHeadGates):
    """What one input does to the matrices of a delta rule, and what is read of them."""

    @abc.abstractmethod
    def transition(self, u: Array) -> Transition:
        """(d, p, q), each `heads x keys`."""

    @abc.abstractmethod
    def write(self, u: Array) -> tuple[Array, Array]:
        """The key and the value whose product is added."""


def unit_vectors(x: Array, eps: float) -> Array:
    """Rows of length one."""
    return x * jax.lax.rsqrt(jnp.sum(x * x, axis=-1, keepdims=True) + eps)


class GatedDelta(AbstractDeltaGates):
    r"""$\beta = \sigma(b)$ and $\log\alpha = -e^{A_{\log}}\,\mathrm{softplus}(a + \mathrm{bias})$.

    $u = (q, k, v, b, a)$ with queries and keys brought to length one. `A_log` holds one
    number a head (gated DeltaNet) or one a key (KDA); without it $\alpha = 1$ and $u$ ends
    with $b$: DeltaNet.
    """

    heads: Heads
    A_log: Float[Array, "heads keys"] | None = None
    bias: Float[Array, "heads keys"] | None = None
    eps: float = eqx.field(static=True, default=1e-6)

    @property
    def rest(self) -> tuple[int, ...]:
        H = self.heads.count
        return (H,) if self.A_log is None else (H, self.A_log.size)

    def _keys(self, u: Array) -> tuple[Array, Array]:
        _, k, _, b, *_ = self.split(u)
        return unit_vectors(k, self.eps), jax.nn.sigmoid(b)[:, None]

    def transition(self, u: Array) -> Transition:
        k, beta = self._keys(u)
        alpha = jnp.ones_like(k)
        if self.A_log is not None and self.bias is not None:
            a = u[-self.A_log.size :].reshape(self.A_log.shape) + self.bias
            alpha = jnp.exp(-jnp.exp(self.A_log) * jax.nn.softplus(a)) * alpha
        return alpha, beta * k, alpha * k

    def write(self, u: Array) -> tuple[Array, Array]:
        k, beta = self._keys(u)
        return beta * k, self.split(u)[2]

    def read(self, before: Array, after: Array, u: Array) -> Array:
        q = unit_vectors(self.split(u)[0], self.eps)
        return jnp.einsum("hk,hkv->hv", q * self.heads.keys**-0.5, after).ravel()


class RWKV7(AbstractDeltaGates):
    r"""$d = w$, $p = a \odot \hat\kappa$, $q = \hat\kappa$ with $u = (r, k, v, w, \kappa, a)$.

    $w$ and $a$ are given as they act; $\hat\kappa$ is $\kappa$ of length one.
    """

    heads: Heads

    @property
    def rest(self) -> tuple[int, ...]:
        return (self.heads.count * self.heads.keys,) * 3

    def transition(self, u: Array) -> Transition:
        w, kappa, a = (part.reshape(self.heads.count, -1) for part in self.split(u)[3:])
        kappa = kappa / jnp.maximum(jnp.linalg.norm(kappa, axis=1, keepdims=True), 1e-12)
        return w, a * kappa, kappa

    def write(self, u: Array) -> tuple[Array, Array]:
        _, k, v, *_ = self.split(u)
        return k, v


class DeltaRule(AbstractGatedCell):
    """Any delta gates as a cell.

    >>> cell = DeltaRule(GatedDelta(Heads(1, 2, 1)))
    >>> u = jnp.array([1.0, 0.0, 1.0, 0.0, 3.0, 0.0])  # q, k, v and b = 0: half is replaced
    >>> cell(jnp.ones((1, 2, 1)), u).round(4).ravel().tolist()
    [2.0, 1.0]
    """

    gates: AbstractDeltaGates
    W_in: Float[Array, "gates inputs"] | None = None

    def _step(self, S: Array, u: Array) -> Array:
        k, v = self.gates.write(u)
        return transported(self.gates.transition(u), S) + k[:, :, None] * v[:, None, :]

    def __call__(self, h: Float[Array, "..."], x: Input) -> Float[Array, "..."]:
        return self._step(h, self._gate_inputs(x))

    def transition(self, h: Any, x: Input) -> Transition:
        """(d, p, q) of the step; the tangent map of a head is diag(d) - p q^T."""
        return self.gates.transition(self._gate_inputs(x))

    def log_volume(self) -> LogVolume:
        values = self.gates.heads.values
        return lambda h, x: values * jnp.sum(log_determinants(self.transition(h, x)))

    def along(self, h: Float[Array, "..."], us: Float[Array, "time inputs"]) -> tuple[Array, Array]:
        """The states after every step, and what is read of them."""

        def step(before, u):
            after = self._step(before, u)
            return after, (after, self.gates.read(before, after, u))

        return jax.lax.scan(step, h, us)[1]


def transported(transition: Transition, S: Float[Array, "heads keys any"]) -> Array:
    """(diag(d) - p q^T) S, head by head."""
    d, p, q = transition
    return d[:, :, None] * S - p[:, :, None] * jnp.einsum("hk,hkv->hv", q, S)[:, None]


def log_determinants(transition: Transition) -> Float[Array, " heads"]:
    """log|det(diag(d) - p q^T)| of every head."""
    d, p, q = transition
    return jnp.sum(jnp.log(d), 1) + jnp.log(jnp.abs(1 - jnp.sum(p * q / d, 1)))
