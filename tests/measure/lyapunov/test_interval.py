"""The interval between factorisations: as long as rounding allows, and no longer."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from exponent_cases import linear, tanh_net

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import Elman, pushforward, Residual
from remanence.measure import exponents_along, growth_along
from remanence.measure.lyapunov.segment import start_frame


class Unknown:
    """A cell that keeps its determinant to itself."""

    def __init__(self, cell):
        self.cell, self.initial_state = cell, cell.initial_state

    def __call__(self, h, x):
        return self.cell(h, x)

    def pushforward(self, h, x, Q):
        return pushforward(self.cell, h, x, Q)


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
    long = rm.lyapunov_spectrum(narrow, np.zeros((2000, 2))).interval
    found = rm.lyapunov_spectrum(Unknown(linear(WIDE)), steps=500)
    assert long > 20 and found.interval <= 3
    np.testing.assert_allclose(found.exponents, [-0.1, -8.0], atol=1e-6)
    # Of two directions one follows from the determinant: nothing is left to notice.
    summed = rm.lyapunov_spectrum(linear(WIDE), steps=2000)
    assert summed.interval > 20
    np.testing.assert_allclose(summed.exponents, [-0.1, -8.0], atol=1e-6)


def test_too_long_an_interval_costs_digits_and_says_so():
    options = {"steps": 1000, "warmup": 50}
    fine = rm.lyapunov_spectrum(linear(WIDE), interval=1, **options)
    wrong = rm.lyapunov_spectrum(linear(WIDE), interval=6, **options)
    assert fine.rounding[1] < 1e-9 < 1e-2 < wrong.rounding[1]
    assert abs(fine.exponents[1] + 8.0) < 1e-9 < 1e-3 < abs(wrong.exponents[1] + 8.0)


def test_the_record_and_the_core_agree():
    cell, xs = tanh_net(5, steps=700)
    found = rm.lyapunov_spectrum(cell, xs, warmup=100)
    with double():
        cell = as_double(cell)
        run = lambda xs: growth_along(cell, jnp.zeros(5), xs, warmup=100)
        core, cost = jax.jit(run)(jnp.asarray(xs, jnp.float64))
    np.testing.assert_allclose(found.exponents, core, atol=1e-7)
    assert (np.asarray(cost) < 1e-6).all() and (found.rounding < 1e-6).all()
    np.testing.assert_allclose(found.running[-1], found.exponents, rtol=1e-12)


def textbook(cell, xs, k):
    """QR after every step in NumPy, from the same frame."""
    W, U, b = (np.asarray(a, np.float64) for a in (cell.W_h, cell.W_x, cell.b))
    with double():
        Q = np.asarray(start_frame(jnp.zeros(len(W)), k, key=jr.key(0)))
    h, growth = np.zeros(len(W)), 0.0
    for x in xs:
        h = np.tanh(W @ h + U @ x + b)
        Q, R = np.linalg.qr((1 - h * h)[:, None] * (W @ Q))
        growth = growth + np.log(np.abs(np.diag(R)))
    return np.sort(growth / len(xs))[::-1]


def test_the_last_exponent_follows_from_the_sum():
    cell, xs = tanh_net(32, gain=1.0, seed=3)
    with double():
        cell = as_double(cell)
    summed = rm.lyapunov_spectrum(cell, xs, warmup=0)
    alone = rm.lyapunov_spectrum(Unknown(cell), xs, warmup=0)
    # The last direction is the one that forced short intervals.
    assert summed.interval > alone.interval
    every = textbook(cell, xs, 32)
    np.testing.assert_allclose(summed.exponents, every, atol=1e-6)
    np.testing.assert_allclose(alone.exponents, every, atol=1e-6)
    # The account is an estimate: pivots of LU may hide a factor of a few.
    assert (np.abs(summed.exponents - every) <= 10 * summed.rounding + 1e-9).all()


def test_the_first_exponents_of_large_networks_equal_qr_after_every_step():
    """An error that turns a few columns towards those left out costs more than itself."""
    with double():
        keys = jr.split(jr.key(3), 32)[jnp.array([7, 11, 19, 30])]
        draw = lambda key: Elman.init(4, 64, key=key, gain=1.2)
        cells = as_double(jax.vmap(draw)(keys))
        xs = np.asarray(jr.normal(jr.key(4), (2000, 4)))
        Q = np.asarray(start_frame(jnp.zeros(64), 8, key=jr.key(0)))
        run = lambda cell: exponents_along(cell, jnp.zeros(64), jnp.asarray(xs), k=8, warmup=200)
        found = jax.jit(lambda cells: jax.lax.map(run, cells))(cells)
    W, U = np.asarray(cells.W_h), np.asarray(cells.W_x)
    h, Q, growth = np.zeros((4, 64)), np.stack([Q] * 4), np.zeros((4, 8))
    for t, x in enumerate(xs):
        h = np.tanh(np.einsum("nij,nj->ni", W, h) + U @ x)
        Q, R = np.linalg.qr((1 - h * h)[..., None] * (W @ Q))
        growth += (t >= 200) * np.log(np.abs(np.einsum("nii->ni", R)))
    every = -np.sort(-growth / 1800, axis=1)
    np.testing.assert_allclose(found, every, atol=1e-7)
