"""The widespread mistake, shown: the frame carried by the transposed Jacobians."""

import jax.numpy as jnp
import numpy as np
from exponent_cases import jacobians, tanh_net

import remanence as rm
from remanence._precision import as_double, double


def transposed_exponents(J):
    """The widespread mistake: the frame carried by the transposes, forward in time."""
    Q, growth = np.eye(J.shape[1]), 0.0
    for step in J:
        Q, R = np.linalg.qr(step.T @ Q)
        growth = growth + np.log(np.abs(np.diag(R)))
    return np.sort(growth / len(J))[::-1]


def test_the_transposed_iteration_is_wrong_and_ours_is_not():
    # Weak inputs: under strong noise the slopes forget their order in time, and
    # the mistake hides.
    with double():
        cell, xs = tanh_net(20, gain=2.0, seed=1, steps=1500)
        xs = 0.1 * xs
        cell, inputs = as_double(cell), jnp.asarray(xs, jnp.float64)
        J = jacobians(cell, inputs)
    found = rm.lyapunov_spectrum(cell, xs, warmup=500)
    # An independent measure of the largest: how a small perturbation grows.
    v, growth = np.ones(20) / np.sqrt(20), 0.0
    for t, step in enumerate(J):
        v = step @ v
        growth += np.log(np.linalg.norm(v)) if t >= 500 else 0.0
        v /= np.linalg.norm(v)
    np.testing.assert_allclose(found.exponents[0], growth / 1000, atol=1e-6)
    wrong = transposed_exponents(J[500:])
    np.testing.assert_allclose(wrong.sum(), found.exponents.sum(), rtol=1e-9)
    assert abs(wrong[0] - found.exponents[0]) > 4 * found.stderr[0] > 0
    # It even reports chaos where there is none.
    assert wrong[0] > 0 > found.exponents[0]
