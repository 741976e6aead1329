r"""A gated deep linear network: $\hat y = W_o^k W_h W_i^l x$ from language $l$ to $k$."""

import math
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int

from ..._types import Key


LARGEST_SCALE = 1e12
"""Three factors of this size still have a product in float32."""


def smallest_scale(precision: str) -> float:
    """The smallest size σ of weights whose first gradients survive in a precision.

    A gradient is a product of two factors, about σ², and norms square entries a
    thousandth of σ; below the smallest normal number these are flushed to zero and
    nothing ever moves.
    """
    return 1e3 * math.sqrt(float(np.finfo(precision).tiny))


def checked_scale(scale: float) -> float:
    """`scale` itself, if it is a starting size σ that can learn at all."""
    if not (scale > 0.0 and math.isfinite(scale)):
        raise ValueError(f"sigma must be positive, got {scale}")
    if scale > LARGEST_SCALE:
        raise ValueError(
            f"sigma = {scale:g} overflows in float32 (three factors of that size); "
            f"take at most {LARGEST_SCALE:g}"
        )
    if scale < smallest_scale("float64"):
        raise ValueError(
            f"sigma = {scale:g} underflows even in float64; take at least "
            f"{smallest_scale('float64'):.0e}, or the toy in log scale"
        )
    return scale


def _scaled(scale: float, drawn: Float[Array, "*shape"]) -> Float[Array | np.ndarray, "*shape"]:
    """Weights of this size; in double where single precision would flush them."""
    if scale < smallest_scale("float32"):
        return scale * np.asarray(drawn, dtype=float)
    return scale * drawn


class GatedLinear(eqx.Module):
    r"""`languages` input and output matrices round one shared hidden matrix.

    The gates pick the input matrix of the language that is heard and the output
    matrix of the one that is asked for; the rest is linear.

    >>> net = GatedLinear.init(languages=3, words=4, units=5, scale=0.1, key=jr.key(0))
    >>> net(jnp.eye(4)[0], source=1, target=2).shape
    (4,)
    """

    W_o: Float[Array | np.ndarray, "languages words units"]
    W_h: Float[Array | np.ndarray, "units units"]
    W_i: Float[Array | np.ndarray, "languages units words"]

    def __check_init__(self):
        L, D, H = self.W_o.shape
        if self.W_i.shape != (L, H, D) or self.W_h.shape != (H, H):
            raise ValueError(
                f"W_o is {(L, D, H)}, so W_h must be {(H, H)} and W_i {(L, H, D)}, "
                f"got {self.W_h.shape} and {self.W_i.shape}"
            )

    @classmethod
    def init(
        cls, *, languages: int, words: int, units: int, scale: float, key: Key
    ) -> "GatedLinear":
        """Independent Gaussian weights of standard deviation `scale`."""
        checked_scale(scale)
        L, D, H = languages, words, units
        shapes = ((L, D, H), (H, H), (L, H, D))
        keys = jr.split(key, 3)
        drawn = (jr.normal(k, shape) for k, shape in zip(keys, shapes, strict=True))
        return cls(*(_scaled(scale, weights) for weights in drawn))

    @classmethod
    def published(
        cls, *, seed: int, scale: float, languages: int = 10, words: int = 32, units: int = 32
    ) -> "GatedLinear":
        """The document's own float32 draw; only rescaled between scales.

        Where float32 could not hold the weights they are doubles.
        """
        checked_scale(scale)
        L, D, H = languages, words, units
        shapes = ((L * D, H), (H, H), (H, L * D))
        with jax.threefry_partitionable(False):
            _, weights_key, _ = jr.split(jr.PRNGKey(seed), 3)
            keys = jr.split(weights_key, 3)
            W_o, W_h, W_i = (
                _scaled(scale, jr.normal(key, shape, dtype=jnp.float32))
                for key, shape in zip(keys, shapes, strict=True)
            )
        return cls(W_o.reshape(L, D, H), W_h, W_i.reshape(H, L, D).transpose(1, 0, 2))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """L languages, D words, H units."""
        L, D, H = self.W_o.shape
        return L, D, H

    def __call__(
        self, x: Float[Array, " words"], *, source: int, target: int
    ) -> Float[Array, " words"]:
        """The translation of one word."""
        return self.W_o[target] @ (self.W_h @ (self.W_i[source] @ x))

    def products(
        self, mask: Literal["full", "diagonal"] = "full"
    ) -> Float[Array, "outputs inputs words *words"]:
        r"""Every block $W_o^k W_h W_i^l$, or only the diagonal of each."""
        A = self.W_o @ self.W_h
        if mask == "diagonal":
            return jnp.einsum("kdh,lhd->kld", A, self.W_i)
        return jnp.einsum("kdh,lhe->klde", A, self.W_i)


def relabelled(net: GatedLinear, words: Int[Array | np.ndarray, "languages words"]) -> GatedLinear:
    r"""The same network speaking other dictionaries.

    Word $i$ of the plain network is called `words[k][i]` in language $k$:
    $W_o^k \to \Pi_k W_o^k$, $W_i^l \to W_i^l \Pi_l^\top$.
    """
    back = jnp.argsort(words, axis=1)
    return GatedLinear(
        jnp.take_along_axis(net.W_o, back[:, :, None], axis=1),
        net.W_h,
        jnp.take_along_axis(net.W_i, back[:, None, :], axis=2),
    )
