"""The interval between factorisations: as long as rounding allows, and no longer."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import Elman, Linear, Residual
from remanence.measure import growth_along


def linear(W):
    with double():
        return Linear(jnp.asarray(W, jnp.float64), jnp.zeros((W.shape[0], 1)))


def tanh_net(units=12, *, gain=1.2, seed=0, steps=600, inputs=2):
    key_cell, key_x = jr.split(jr.key(seed))
    cell = Elman.init(inputs, units, key=key_cell, gain=gain)
    return cell, np.asarray(jr.normal(key_x, (steps, inputs)))


def test_a_rare_factorisation_equals_every_step():
    for gain, seed in ((0.3, 0), (2.0, 2)):
        cell, xs = tanh_net(32, gain=gain, seed=seed)
        every = rm.lyapunov_spectrum(cell, xs, interval=1)
        rare = rm.lyapunov_spectrum(cell, xs)
        assert rare.interval > 1
        np.testing.assert_allclose(rare.exponents, every.exponents, atol=1e-6)


TURN = np.array([[0.6, -0.8], [0.8, 0.6]])
WIDE = TURN @ (np.diag(np.exp([-0.1, -8.0])) + np.array([[0, 1.0], [0, 0]])) @ TURN.T


def test_the_interval_notices_a_wide_spectrum(key):
    narrow = Residual.init(2, 8, key=key, coupling=1e-3)
    long = rm.lyapunov_spectrum(narrow, np.zeros((500, 2))).interval
    found = rm.lyapunov_spectrum(linear(WIDE), steps=500)
    assert long > 20 and found.interval <= 3
    np.testing.assert_allclose(found.exponents, [-0.1, -8.0], atol=1e-6)


def test_too_long_an_interval_costs_digits_and_says_so():
    options = {"steps": 200, "warmup": 50}
    fine = rm.lyapunov_spectrum(linear(WIDE), interval=1, **options)
    wrong = rm.lyapunov_spectrum(linear(WIDE), interval=6, **options)
    assert fine.rounding[1] < 1e-9 < 1e-2 < wrong.rounding[1]
    assert abs(fine.exponents[1] + 8.0) < 1e-9 < 1e-3 < abs(wrong.exponents[1] + 8.0)


def test_the_record_and_the_core_agree():
    cell, xs = tanh_net(5, steps=700)
    found = rm.lyapunov_spectrum(cell, xs, warmup=100)
    with double():
        cell = as_double(cell)
        core, cost = growth_along(
            cell, jnp.zeros(5), jnp.asarray(xs, jnp.float64), warmup=100
        )
    np.testing.assert_allclose(found.exponents, core, atol=1e-7)
    assert (np.asarray(cost) < 1e-6).all() and (found.rounding < 1e-6).all()
    np.testing.assert_allclose(found.running[-1], found.exponents, rtol=1e-12)
