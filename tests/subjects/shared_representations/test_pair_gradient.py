"""Structured gradients against plain differentiation of the loss as it is written."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence._precision import as_double, double
from remanence.subjects.shared_representations.gated_linear import GatedLinear, relabelled
from remanence.subjects.shared_representations.language_pairs import nested_pairs
from remanence.subjects.shared_representations.pair_gradient import gradient, loss, pack, unpack


def written(net, T, mask, words=None):
    """Half the masked squared error, with every matrix of the formula."""
    L, D, H = net.sizes
    W_o, W_i = net.W_o.reshape(L * D, H), net.W_i.transpose(1, 0, 2).reshape(H, L * D)
    if words is None:
        words = np.tile(np.arange(D), (L, 1))
    eye = jnp.eye(D, dtype=net.W_h.dtype)
    Pi = jnp.concatenate([eye[jnp.argsort(w)] for w in jnp.asarray(words)])
    target = Pi @ Pi.T
    M = jnp.kron(T, jnp.ones((D, D), dtype=T.dtype))
    if mask == "diagonal":
        M = M * target
    return 0.5 * jnp.sum(((W_o @ net.W_h @ W_i - target) * M) ** 2)


@pytest.mark.parametrize("mask", ["full", "diagonal"])
@pytest.mark.parametrize("units", [3, 5])
def test_gradient_is_that_of_the_written_loss(mask, units, key):
    with double():
        net = as_double(GatedLinear.init(languages=4, words=3, units=units, scale=0.7, key=key))
        T = jnp.asarray(nested_pairs(4, 0.5, key=key))
        half, expected = jax.jit(jax.value_and_grad(lambda n: written(n, T, mask)))(net)
        w = pack(net, mask)
        found = unpack(jax.jit(gradient, static_argnums=2)(w, T, mask), mask)
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)
        half = float(half)
        count = net.sizes[1] * float(T.sum())
        assert float(loss(w, T, mask)) * count == pytest.approx(half, rel=1e-12)
        back = unpack(w, mask)
        for a, b in zip(jax.tree.leaves(back), jax.tree.leaves(net), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mask", ["full", "diagonal"])
def test_dictionaries_do_not_matter(mask, key):
    """Any Π_k: same loss and the relabelled gradient, hence the same dynamics."""
    words = np.random.default_rng(3).permuted(np.tile(np.arange(5), (4, 1)), axis=1)
    with double():
        net = as_double(GatedLinear.init(languages=4, words=5, units=6, scale=0.6, key=key))
        T = jnp.asarray(nested_pairs(4, 0.4, key=key))
        other = relabelled(net, words)
        plain = jax.jit(jax.value_and_grad(lambda n: written(n, T, mask)))(net)
        spoken = jax.jit(jax.value_and_grad(lambda n: written(n, T, mask, words)))(other)
        assert float(plain[0]) == pytest.approx(float(spoken[0]), rel=1e-12)
        moved = relabelled(plain[1], words)
        for a, b in zip(jax.tree.leaves(moved), jax.tree.leaves(spoken[1]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_gaussian_words_give_the_same_loss(key):
    """E over x ~ N(0, I/D) of ½|Ax - x|² is the one-hot average, by quadrature of x."""
    with double():
        net = as_double(GatedLinear.init(languages=2, words=3, units=3, scale=0.8, key=key))
        D = 3
        A = net.products()[0, 1]
        onehot = np.mean(
            [0.5 * float(jnp.sum((net(e, source=1, target=0) - e) ** 2)) for e in jnp.eye(D)]
        )
        # A spherical design of degree 2 has the Gaussian's second moments exactly.
        xs = jnp.concatenate([jnp.eye(D), -jnp.eye(D)])
        gaussian = 0.5 * jnp.mean(jnp.sum((xs @ A.T - xs) ** 2, axis=1))
        assert float(gaussian) == pytest.approx(onehot, rel=1e-12)
        drawn = jr.normal(jr.key(5), (200_000, D)) / D**0.5
        sampled = 0.5 * jnp.mean(jnp.sum((drawn @ A.T - drawn) ** 2, axis=1))
        assert float(sampled) == pytest.approx(onehot, rel=2e-2)
