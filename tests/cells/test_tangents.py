"""What cells offer of their derivatives, against automatic differentiation."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from remanence._precision import as_double, double
from remanence.cells import (
    Diagonal,
    dimension,
    dual_pushforward,
    Elman,
    GRU,
    jacobian,
    Linear,
    log_volume,
    LSTM,
    pushforward,
    Residual,
    Stack,
)


class Bare(eqx.Module):
    """A cell that offers nothing: the derivative is left to JAX."""

    cell: Any

    def __call__(self, h, x):
        return self.cell(h, x)


class OwnTangents(eqx.Module):
    """A user's cell whose `pushforward` knows tangents of the state only."""

    cell: Elman

    def __call__(self, h, x):
        return self.cell(h, x)

    def initial_state(self):
        return self.cell.initial_state()

    def pushforward(self, h, x, Q):
        return self.cell.pushforward(h, x, Q)


KINDS = {
    "linear": lambda key: Linear.init(3, 4, key=key),
    "elman": lambda key: Elman.init(3, 4, key=key, gain=1.3),
    "softplus": lambda key: Elman.init(3, 4, key=key, activation=jax.nn.softplus),
    "lstm": lambda key: LSTM.init(3, 4, key=key),
    "gru": lambda key: GRU.init(3, 4, key=key),
    "residual": lambda key: Residual.init(3, 4, key=key, residual=0.9),
    "diagonal": lambda key: Diagonal.init(3, 4, key=key),
    "real": lambda key: Diagonal(jnp.array([0.5, -0.9]), jr.normal(key, (2, 3))),
    "own": lambda key: OwnTangents(Elman.init(3, 4, key=key)),
    "stack": lambda key: Stack(
        (LSTM.init(3, 2, key=key), GRU.init(2, 3, key=key), Elman.init(3, 2, key=key))
    ),
    "tower": lambda key: Stack(
        (
            Stack((Elman.init(3, 2, key=key), LSTM.init(2, 2, key=key))),
            Residual.init(2, 3, key=key, residual=0.5),
        )
    ),
}


def somewhere(cell, seed=5):
    """A state, an input and tangents of both."""
    key_h, key_x, key_q, key_v = jr.split(jr.key(seed), 4)
    flat, unravel = ravel_pytree(cell.initial_state())
    h = unravel(0.7 * jr.normal(key_h, flat.shape, flat.dtype))
    x = jr.normal(key_x, (3,))
    return h, x, jr.normal(key_q, (flat.size, 5)), jr.normal(key_v, (3, 5))


OFFERED = [kind for kind in KINDS if kind not in ("linear", "diagonal", "real")]


@pytest.mark.parametrize("kind", OFFERED)
def test_tangents_of_state_and_input_together(kind):
    with double():
        cell = as_double(KINDS[kind](jr.key(1)))
        h, x, Q, X = somewhere(cell)
        push = eqx.filter_jit(pushforward)
        for moved in (None, X):
            following, got = push(cell, h, x, Q, moved)
            expected_state, expected = push(Bare(cell), h, x, Q, moved)
            np.testing.assert_allclose(got, expected, atol=1e-13)
            for one, two in zip(
                jax.tree.leaves(following), jax.tree.leaves(expected_state), strict=True
            ):
                np.testing.assert_allclose(one, two, atol=1e-14)


@pytest.mark.parametrize("kind", [*KINDS, "layers"])
def test_the_dual_is_the_inverse_transposed(kind):
    with double():
        keys = jr.split(jr.key(2), 3)
        layers = LSTM.init(3, 4, key=keys[0]), Elman.init(4, 3, key=keys[1])
        stack = Stack((*layers, LSTM.init(3, 2, key=keys[2])))
        cell = as_double(stack if kind == "layers" else KINDS[kind](jr.key(2)))
        h, x, Q, moved = somewhere(cell)
        at = dual_pushforward(cell)
        assert (at is not None) == (kind in ("elman", "lstm", "layers"))
        if at is not None:
            following, P, X = at(h, x, Q)
            assert jax.tree.all(jax.tree.map(np.allclose, following, cell(h, x)))
            np.testing.assert_allclose(jacobian(cell, h, x).T @ P, Q, atol=1e-11)
            by_input = pushforward(cell, h, x, 0 * Q, moved)[1]  # J_x times what moves
            np.testing.assert_allclose(X.T @ moved, P.T @ by_input, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_volume_is_the_determinant(kind):
    with double():
        cell = as_double(KINDS[kind](jr.key(2)))
        h, x, _, _ = somewhere(cell)
        at = log_volume(cell)
        known = kind in ("linear", "elman", "softplus", "lstm", "diagonal", "real")
        assert (at is not None) == known
        if at is not None:
            expected = np.linalg.slogdet(np.asarray(jacobian(cell, h, x)))[1]
            np.testing.assert_allclose(at(h, x), expected, rtol=1e-11)


def test_the_volume_of_a_stack_is_the_sum_over_its_layers():
    with double():
        keys = jr.split(jr.key(0), 3)
        cell = as_double(
            Stack(
                (
                    LSTM.init(3, 4, key=keys[0]),
                    Elman.init(4, 3, key=keys[1]),
                    Linear.init(3, 2, key=keys[2]),
                )
            )
        )
        h, x, _, _ = somewhere(cell)
        at = log_volume(cell)
        assert at is not None and dimension(cell) == 13
        expected = np.linalg.slogdet(np.asarray(jacobian(cell, h, x)))[1]
        np.testing.assert_allclose(at(h, x), expected, rtol=1e-11)
