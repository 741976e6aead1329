r"""Norms of the gap between two states, and the sets of states that certificates speak of.

A norm is $\max_i |\delta_i| / w_i$, $\|w \odot \delta\|_2$ or $\|L \delta\|_2$, scaled so that it
is at least Euclidean. That of a stack is the weighted maximum of its layers' norms.

Where $|\delta'| \le K |\delta|$ entry by entry with a comparison matrix $K \ge 0$, weights $v > 0$
with $K v \le \lambda v$ make $\max_i |\delta_i| / v_i$ shrink by $\lambda$. From the left and right Perron
vectors $u, v$ the scaling $S = \mathrm{diag}\sqrt{u/v}$ gives $\|S K S^{-1}\|_2 = \rho(K)$ too, with a
smaller overshoot: Euclidean distances do not pay for the number of units.
"""

import functools
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..._types import State
from .rounding import above, growth_above, perron, power_iteration


Comparison = Float[np.ndarray, "n n"]


class Norm(eqx.Module):
    """A norm on raveled states, at least Euclidean."""

    kind: Literal["maximum", "ellipsoid"] = eqx.field(static=True)
    weights: Any
    layers: tuple["Norm", ...] = ()

    @property
    def size(self) -> int:
        """How many numbers the states hold."""
        return sum(layer.size for layer in self.layers) or self.weights.shape[-1]

    def __call__(self, gap: Float[Array, " state"]) -> Float[Array, ""]:
        if self.layers:
            edges = np.cumsum([layer.size for layer in self.layers])
            parts = zip(self.layers, jnp.split(gap, edges[:-1]), strict=True)
            gap = jnp.stack([layer(part) for layer, part in parts])
        w = jnp.asarray(self.weights, gap.dtype)
        if self.kind == "maximum":
            return jnp.max(jnp.abs(gap) / w)
        return jnp.linalg.norm(w @ gap if w.ndim == 2 else w * gap)


def euclidean(size: int) -> Norm:
    """The Euclidean norm itself."""
    return Norm("ellipsoid", np.ones(size))


class Proof(NamedTuple):
    """A proved rate per step in a norm, which is at most `overshoot` times the Euclidean."""

    rate: float
    overshoot: float
    norm: Norm
    details: Mapping[str, Any] = MappingProxyType({})
    reach: float = math.inf
    """How far from zero its orbit is known to come, in the norm."""

    @property
    def patience(self) -> float:
        """The steps that shrink a gap a millionfold; infinite where nothing is proved."""
        if not self.rate < 1:
            return math.inf
        return math.log(1e6 * self.overshoot) / -math.log(max(self.rate, 1e-300))


class Ball(eqx.Module):
    """The states whose norm is at most `radius`, of one layer or of a cell."""

    norm: Norm
    radius: float
    start: int = eqx.field(static=True, default=0)
    """Where the layer's part of the raveled state begins."""
    layer: int | None = eqx.field(static=True, default=None)

    @property
    def place(self) -> slice:
        """The layer's part of a raveled state."""
        return slice(self.start, self.start + self.norm.size)

    def __str__(self) -> str:
        where = "" if self.layer is None else f" of layer {self.layer}"
        if self.norm.kind == "maximum":
            widest = self.radius * float(np.max(self.norm.weights))
            return f"state components in a box up to {widest:.3g}{where}"
        return f"states within {self.radius:.3g} of zero in the metric{where}"


class Domain(eqx.Module):
    """The states that a certificate speaks of: an invariant set round zero.

    No input within the certificate's bound leads out of it, so the orbit of zero is inside.
    """

    balls: tuple[Ball, ...] = ()

    def __str__(self) -> str:
        return " and ".join(str(ball) for ball in self.balls) or "all states"

    def __contains__(self, h: State) -> bool:
        flat = ravel_pytree(h)[0]
        # States that were computed may stand an ulp or two outside of where they are.
        room = 1 + 16 * float(jnp.finfo(flat.dtype).eps)
        return all(bool(ball.norm(flat[ball.place]) <= ball.radius * room) for ball in self.balls)


ALL_STATES = Domain()


def weighted_proof(v: Float[np.ndarray, " n"], *matrices: Comparison) -> Proof:
    """The largest component weighted by `v`; each row obeys one of the matrices."""
    w = v / above(float(np.linalg.norm(v)), len(v) + 2)
    rate = max((growth_above(K, w) for K in matrices), default=0.0)
    return Proof(rate, above(1 / float(w.min()), 1), Norm("maximum", w))


def maximum_proof(*matrices: Comparison) -> Proof:
    """The weights that power iteration finds, on the worse of the rows."""
    largest = functools.reduce(np.maximum, matrices)
    v, _ = perron(largest)
    if len(matrices) > 1:
        floor = 1e-9 * float(largest.max()) / len(v)
        worse = lambda v: np.max([K @ v for K in matrices], axis=0) + floor * v.sum()
        v = power_iteration(worse, v, iterations=2000)
    return weighted_proof(v, *matrices)


def scaled_proof(*matrices: Comparison) -> Proof:
    """The Euclidean distance after a diagonal scaling."""
    K = functools.reduce(np.maximum, matrices)
    v, u = perron(K)
    s = np.sqrt(u / v)
    s = s / s.min()
    A = above(K * s[:, None] / s, 3)
    # For a non-negative A and any w > 0, |A|^2 is at most max (A^T A w)_i / w_i.
    w = v * s
    top = above(A.T @ above(A @ w, len(w)), len(w))
    rate = above(float(np.sqrt(np.max(above(top / w, 1)))), 2)
    return Proof(rate, above(float(s.max()), 2), Norm("ellipsoid", s))
