"""Exponents beside the product of Jacobians itself: determinants, long arithmetic."""

import jax
import jax.numpy as jnp
import jax.random as jr
import mpmath
import numpy as np
import pytest
from exponent_cases import jacobians

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import Diagonal, dimension, Elman, GRU, LSTM, Residual, Stack
from remanence.measure.lyapunov.segment import segment, start_frame
from remanence.nets import unroll


CELLS = {
    "elman": lambda key: Elman.init(3, 5, key=key, gain=1.5),
    "relu": lambda key: Elman.init(3, 5, key=key, gain=1.5, activation=jax.nn.softplus),
    "lstm": lambda key: LSTM.init(3, 4, key=key),
    "gru": lambda key: GRU.init(3, 5, key=key),
    "residual": lambda key: Residual.init(3, 5, key=key, residual=0.9),
    "diagonal": lambda key: Diagonal.init(3, 3, key=key),
    "stack": lambda key: Stack((LSTM.init(3, 2, key=key), GRU.init(2, 3, key=key))),
}


@pytest.mark.parametrize("name", CELLS)
def test_the_sum_is_the_mean_log_determinant_at_every_finite_time(name):
    with double():
        key_cell, key_x = jr.split(jr.key(7))
        cell = as_double(CELLS[name](key_cell))
        xs = jr.normal(key_x, (60, 3))
        log_det = np.linalg.slogdet(jacobians(cell, xs))[1]
        h0 = cell.initial_state()
        Q = start_frame(h0, dimension(cell), key=jr.key(0))
        run = jax.jit(
            lambda stop, interval: segment(cell, h0, Q, xs, start=0, stop=stop, interval=interval)
        )
        for stop, interval in ((1, 1), (7, 1), (7, 3), (60, 1), (60, 4)):
            found = run(stop, interval).growth
            np.testing.assert_allclose(
                found.sum(), log_det[:stop].sum(), rtol=1e-10, atol=5e-7 * stop
            )


def test_the_closed_form_of_an_lstm_sum():
    # The sizes of the next test, so that both share one compiled program.
    units, steps = 3, 120
    with double():
        cell = as_double(LSTM.init(2, units, key=jr.key(3)))
        xs = jr.normal(jr.key(4), (steps, 2))
        h, c = unroll(cell, cell.initial_state(), xs)
        zero = jnp.zeros((1, units))
        hidden = jnp.concatenate([zero, h[:-1]])
        _, f, _, o = jnp.split(jax.nn.sigmoid(jax.vmap(cell.drive)(hidden, xs)), 4, axis=1)
        W_o = cell.W_h[3 * units :]
        parts = jnp.log(f) + jnp.log(jnp.abs(jnp.tanh(c))) + jnp.log(o * (1 - o))
        expected = parts.sum(axis=1).mean() + jnp.linalg.slogdet(W_o)[1]
    found = rm.lyapunov_spectrum(cell, np.asarray(xs), warmup=0)
    assert len(found.exponents) == 2 * units
    np.testing.assert_allclose(found.exponents.sum(), float(expected), rtol=1e-10)


def singular_value_exponents(factors, steps):
    """Log singular values of a product in 300 digits: no reorthonormalisation at all."""
    with mpmath.workdps(300):
        product = mpmath.eye(factors[0].shape[0])
        for J in factors:
            product = mpmath.matrix(J.tolist()) * product
        values = mpmath.svd_r(product, compute_uv=False)
        return np.array([float(mpmath.log(v)) / steps for v in values])


def test_an_lstm_against_a_product_in_three_hundred_digits():
    units, steps = 3, 120
    with double():
        cell = as_double(LSTM.init(2, units, key=jr.key(0)))
        xs = jr.normal(jr.key(1), (steps, 2))
        J = jacobians(cell, xs)
        Q = np.asarray(start_frame(cell.initial_state(), 2 * units, key=jr.key(0)))
    # QR of the whole product, in 300 digits, from the same frame.
    with mpmath.workdps(300):
        frame = mpmath.matrix(Q.tolist())
        for step in J:
            frame = mpmath.matrix(step.tolist()) * frame
        R = mpmath.qr(frame, mode="skinny")[1]
        exact = [float(mpmath.log(abs(R[i, i]))) / steps for i in range(2 * units)]
    found = rm.lyapunov_spectrum(cell, np.asarray(xs), warmup=0)
    np.testing.assert_allclose(found.exponents, np.sort(exact)[::-1], atol=1e-9)
    values = singular_value_exponents(J, steps)
    np.testing.assert_allclose(found.exponents, values, atol=0.06)
