r"""Norms of the gap between two states, and the sets of states that certificates speak of.

A norm is $\max_i |\delta_i| / w_i$, $\|w \odot \delta\|_2$ or $\|L \delta\|_2$, scaled so that it
is at least Euclidean. That of a stack is the weighted maximum of its layers' norms.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..._types import State


class Norm(eqx.Module):
    """A norm on raveled states, at least Euclidean."""

    kind: Literal["maximum", "ellipsoid"] = eqx.field(static=True)
    weights: Any
    layers: tuple["Norm", ...] = ()

    @property
    def size(self) -> int:
        """How many numbers the states hold."""
        own = self.weights.shape[-1]
        return sum(layer.size for layer in self.layers) if self.layers else own

    def __call__(self, gap: Float[Array, " state"]) -> Float[Array, ""]:
        if self.layers:
            edges = np.cumsum([layer.size for layer in self.layers])
            parts = jnp.split(gap, edges[:-1])
            each = zip(self.layers, parts, strict=True)
            gap = jnp.stack([layer(part) for layer, part in each])
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

    def require(self, *states: State) -> None:
        """Refuse states outside; what is traced cannot be looked at."""
        for h in states:
            leaves = jax.tree.leaves(h)
            traced = any(isinstance(leaf, Tracer) for leaf in leaves)
            if not traced and h not in self:
                raise ValueError(f"the certificate speaks of {self}, and a state outside came")


ALL_STATES = Domain()
