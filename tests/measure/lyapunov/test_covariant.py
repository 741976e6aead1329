"""Covariant vectors are carried along by the map, and their growth is the spectrum."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import Elman, jacobian, Linear
from remanence.measure import covariant_vectors
from remanence.nets import unroll


def test_the_vectors_of_a_linear_map_are_its_eigenvectors():
    W = np.array([[0.9, 0.3, 0.1], [0.0, 0.6, 0.2], [0.0, 0.0, 0.3]])
    found = covariant_vectors(Linear(jnp.asarray(W), jnp.zeros((3, 1))), np.zeros((300, 1)))
    values, vectors = np.linalg.eig(W)
    order = np.argsort(-np.abs(values))
    for got in (found.vectors[0], found.vectors[-1]):
        np.testing.assert_allclose(np.abs(got), np.abs(vectors[:, order]), atol=1e-6)
    np.testing.assert_allclose(found.exponents, np.log(values[order]), atol=1e-6)


def test_the_map_carries_each_vector_to_the_next():
    with double():
        cell = as_double(Elman.init(2, 6, key=jr.key(0), gain=1.4))
        xs = jr.normal(jr.key(1), (400, 2))
        states = unroll(cell, jnp.zeros(6), xs)
        J = np.asarray(jax.vmap(jacobian, in_axes=(None, 0, 0))(cell, states[:-1], xs[1:]))
    found = covariant_vectors(cell, np.asarray(xs), k=4, warmup=100, tail=100)
    first, last = found.steps
    moved = np.einsum("tij,tjk->tik", J[first - 1 : last - 2], found.vectors[:-1])
    length = np.linalg.norm(moved, axis=1)
    cosine = np.abs((moved * found.vectors[1:]).sum(axis=1)) / length
    np.testing.assert_allclose(cosine, 1.0, atol=1e-9)
    np.testing.assert_allclose(np.log(length), found.growth[:-1], atol=1e-9)
    assert (found.angles() <= np.pi / 2).all()
    spectrum = rm.lyapunov_spectrum(cell, np.asarray(xs), k=4, warmup=100)
    np.testing.assert_allclose(found.exponents, spectrum.exponents, atol=0.06)


def test_refusals():
    cell = Linear(0.5 * jnp.eye(2), jnp.zeros((2, 1)))
    with pytest.raises(ValueError, match="must leave steps between them: 6 and 4 of 10"):
        covariant_vectors(cell, np.zeros((10, 1)), warmup=6, tail=4)
    dead = Linear(jnp.diag(jnp.array([0.5, 0.0])), jnp.zeros((2, 1)))
    with pytest.raises(ValueError, match="lost within one step"):
        covariant_vectors(dead, np.zeros((40, 1)))
