r"""A gated deep linear network, $\hat y = W_o^k W_h W_i^l x$ from language $l$ to $k$: what it is,
and what it has learned."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int

from ..._precision import as_double, double
from ..._types import Key
from .language_pairs import connectivity, Mask, Pairs, path_bound


SMALLEST, LARGEST = 1e-150, 1e12
"""Sizes σ between which float64 holds the squares of weights, and float32 products of three."""
SINGLE = 1e-16
"""σ below which float32 flushes the first gradients, products of two factors, to zero."""


def _scaled_normals(
    scale: float, key: Key, shapes: tuple[tuple[int, ...], ...]
) -> list[Float[Array | np.ndarray, "..."]]:
    """Normal weights of this size; in double where single precision would flush them."""
    if not SMALLEST <= scale <= LARGEST:
        raise ValueError(
            f"sigma must lie between {SMALLEST:g} and {LARGEST:g}, where products of weights are "
            f"numbers, got {scale:g}; the toy in log scale goes further"
        )
    keys = zip(jr.split(key, 3), shapes, strict=True)
    drawn = [jr.normal(k, shape, jnp.float32) for k, shape in keys]
    return [scale * (w if scale >= SINGLE else np.asarray(w, float)) for w in drawn]


class GatedLinear(eqx.Module):
    r"""`languages` input and output matrices round one shared hidden matrix; the gates pick the
    input matrix of the source language and the output matrix of the target language.

    >>> net = GatedLinear.init(languages=3, words=4, units=5, scale=0.1, key=jr.key(0))
    >>> net(jnp.eye(4)[0], source=1, target=2).shape
    (4,)
    """

    W_o: Float[Array | np.ndarray, "languages words units"]
    W_h: Float[Array | np.ndarray, "units units"]
    W_i: Float[Array | np.ndarray, "languages units words"]

    @classmethod
    def init(
        cls, *, languages: int, words: int, units: int, scale: float, key: Key
    ) -> "GatedLinear":
        """Independent Gaussian weights of standard deviation `scale`."""
        L, D, H = languages, words, units
        return cls(*_scaled_normals(scale, key, ((L, D, H), (H, H), (L, H, D))))

    @classmethod
    def published(
        cls, *, seed: int, scale: float, languages: int = 10, words: int = 32, units: int = 32
    ) -> "GatedLinear":
        """The document's own float32 draw; only rescaled between scales."""
        L, D, H = languages, words, units
        shapes = ((L * D, H), (H, H), (H, L * D))
        with jax.threefry_partitionable(False):
            _, weights_key, _ = jr.split(jr.PRNGKey(seed), 3)
            W_o, W_h, W_i = _scaled_normals(scale, weights_key, shapes)
        return cls(W_o.reshape(L, D, H), W_h, W_i.reshape(H, L, D).transpose(1, 0, 2))

    @property
    def sizes(self) -> tuple[int, ...]:
        """L languages, D words, H units."""
        return self.W_o.shape

    def __call__(self, x: Float[Array, " words"], *, source: int, target: int) -> Array:
        """The translation of one word."""
        return self.W_o[target] @ (self.W_h @ (self.W_i[source] @ x))

    def products(self) -> Float[Array, "outputs inputs words words"]:
        r"""Every block $W_o^k W_h W_i^l$."""
        return jnp.einsum("kdh,lhe->klde", self.W_o @ self.W_h, self.W_i)


def relabelled(net: GatedLinear, words: Int[Array | np.ndarray, "languages words"]) -> GatedLinear:
    r"""The network that calls word $i$ `words[k][i]` in language $k$: $\Pi_k W_o^k$, $W_i^l \Pi_l^\top$."""
    back = jnp.argsort(words, axis=1)
    W_o = jnp.take_along_axis(net.W_o, back[:, :, None], axis=1)
    return GatedLinear(W_o, net.W_h, jnp.take_along_axis(net.W_i, back[:, None, :], axis=2))


MEASURED = ("train_loss", "test_loss", "across", "accuracy_trained", "accuracy_untrained", "rank")
MEASURED += ("signs",)


def translation(net: GatedLinear, T: Pairs, *, mask: Mask) -> dict[str, float]:
    r"""A network judged pair by pair, in float64.

    Losses are $\frac12$ mean squared errors a word, over the entries that the mask looks at, on
    taught, untaught and unconnected pairs (`across`); accuracies are of argmax over the whole
    dictionary. `rank` is the participation ratio of the squared singular values of $W_oW_hW_i$,
    `signs` the share of untaught diagonal entries that are negative. NaN is for no pair.
    """
    T = np.asarray(T, dtype=float)
    L, D, H = net.sizes
    with double():
        blocks = np.asarray(as_double(net).products())
    looked_at = np.eye(D) if mask == "diagonal" else np.ones((D, D))
    errors = ((blocks - np.eye(D)) ** 2 * looked_at).sum((-1, -2)) / (2 * D)
    right = (blocks.argmax(axis=2) == np.arange(D)).mean(axis=2)
    negative = (np.einsum("kldd->kld", blocks) < 0).mean(-1)
    untaught, across = 1.0 - T, 1.0 - connectivity(T).together
    mean = lambda values, where: float((values * where).sum() / (where.sum() or np.nan))
    # The product's singular values from its thin factors: LD×LD is never formed.
    P, W, Q = (np.asarray(weights, float) for weights in (net.W_o, net.W_h, net.W_i))
    outer = np.linalg.qr(P.reshape(L * D, H), mode="r")
    inner = np.asarray(np.linalg.qr(Q.transpose(0, 2, 1).reshape(L * D, H), mode="r"))
    values = np.linalg.svd(outer @ W @ inner.T, compute_uv=False)
    # Relative to the largest: the squares of tiny ones would underflow.
    energy = (values / max(values[0], np.finfo(float).tiny)) ** 2
    rank = float(energy.sum() ** 2 / (energy**2).sum()) if values[0] else 0.0
    losses = (mean(errors, where) for where in (T, untaught, across))
    found = (*losses, mean(right, T), mean(right, untaught), rank, mean(negative, untaught))
    return dict(zip(MEASURED, found, strict=True))


def bound_ratios(net: GatedLinear, T: Pairs) -> Pairs:
    r"""$\|A_{kl} - I\|_2$ of each block over the bound along its path (`path_bound`)."""
    with double():
        blocks = np.asarray(as_double(net).products())
    gap = np.linalg.norm(blocks - np.eye(blocks.shape[-1]), ord=2, axis=(2, 3))
    return gap / path_bound(connectivity(T), float(gap[T == 1].max()))
