"""Exponents with closed forms."""

import functools

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from exponent_cases import linear

import remanence as rm
from remanence.cells import AbstractCell, Linear
from remanence.nets import ClosedLoop


class Map(AbstractCell):
    """A bare map of the plane or the line, its input ignored."""

    step: functools.partial = eqx.field(static=True)
    start: tuple[float, ...] = eqx.field(static=True)

    def __call__(self, h, x):
        return self.step(h)

    def initial_state(self):
        return jnp.array(self.start)


def henon(h):
    return jnp.stack([1.0 - 1.4 * h[0] ** 2 + h[1], 0.3 * h[0]])


def lattice(coupling, h):
    f = 1 - 2 * h**2
    return (1 - coupling) * f + coupling * f.mean() * jnp.ones_like(h)


@pytest.mark.parametrize("radius", [0.5, 1.0, 1.5])
def test_a_scaled_rotation_has_log_radius_twice(radius):
    turn = radius * np.array([[0.6, -0.8], [0.8, 0.6]])
    found = rm.lyapunov_spectrum(linear(turn), np.zeros((50, 1)))
    np.testing.assert_allclose(found.exponents, np.log(radius), atol=1e-12)
    assert found.converged


def test_a_triangular_matrix_shows_its_diagonal():
    diagonal = np.array([0.9, -0.5, 0.2])
    W = np.diag(diagonal) + np.triu(np.ones((3, 3)), 1)
    found = rm.lyapunov_spectrum(linear(W), steps=400, warmup=200)
    np.testing.assert_allclose(found.exponents, np.log(np.abs(diagonal)), atol=1e-9)


def test_a_normal_matrix_shows_the_moduli_of_its_eigenvalues():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    block = np.zeros((5, 5))
    block[:2, :2] = 0.9 * np.array([[0.6, -0.8], [0.8, 0.6]])
    block[2:, 2:] = np.diag([0.6, 0.3, 0.05])
    found = rm.lyapunov_spectrum(linear(Q @ block @ Q.T), steps=400)
    expected = np.log([0.9, 0.9, 0.6, 0.3, 0.05])
    np.testing.assert_allclose(found.exponents, expected, atol=1e-6)


def test_henon():
    found = rm.lyapunov_spectrum(Map(henon, (0.1, 0.1)), steps=40_000)
    np.testing.assert_allclose(found.exponents, [0.419, -1.623], atol=4e-3)
    np.testing.assert_allclose(found.exponents.sum(), np.log(0.3), atol=1e-12)
    np.testing.assert_allclose(found.kaplan_yorke, 1.258, atol=3e-3)
    np.testing.assert_allclose(found.entropy, 0.419, atol=4e-3)
    assert found.converged
    low, high = found.confidence()
    assert low[0] < 0.4192 < high[0]


def test_a_synchronised_logistic_lattice():
    # On the diagonal the tangent map is f'(s) times (1, 1 - coupling, ...):
    # one exponent log 2, the others log 2 + log(1 - coupling).
    coupling, units = 0.6, 4
    cell = Map(functools.partial(lattice, coupling), (0.3,) * units)
    found = rm.lyapunov_spectrum(cell, steps=20_000)
    expected = np.log(2) + np.array([0, *[np.log(1 - coupling)] * (units - 1)])
    np.testing.assert_allclose(found.exponents, expected, atol=6e-3)
    gaps = np.diff(found.exponents)
    np.testing.assert_allclose(gaps, [np.log(1 - coupling), 0, 0], atol=2e-4)


@pytest.mark.parametrize("n", [2, 7])
def test_the_shift_map_in_closed_loop_has_log_n(n):
    # The state is the rest of a string read as a number in base n; the network
    # hears the digit that it has just said.
    shift = Linear(n * jnp.eye(1), -jnp.eye(1))
    say = lambda h: jnp.clip(jnp.floor(n * h), 0, n - 1)
    found = rm.lyapunov_spectrum(ClosedLoop(shift, say), steps=40, h0=jnp.array([0.3]))
    np.testing.assert_allclose(found.exponents, np.log(n), atol=1e-12)


def test_feedback_counts_in_the_jacobian():
    cell = Linear(0.5 * jnp.eye(2), jnp.eye(2))
    found = rm.lyapunov_spectrum(ClosedLoop(cell, lambda h: 0.25 * h), steps=50)
    np.testing.assert_allclose(found.exponents, np.log(0.75), atol=1e-12)
