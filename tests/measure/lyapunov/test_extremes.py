"""Exponents that rounding threatens to hide: a number, a number that they are below, or -inf."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import mpmath
import numpy as np
import pytest
from exponent_cases import linear

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import Diagonal, Elman, GRU, LSTM
from remanence.cells.affine import log_slope, value_and_slope
from remanence.measure import growth_along
from remanence.measure.lyapunov.segment import start_frame


def textbook(cell, xs, warmup):
    """QR after every step in 50 digits, slopes included, from the same frame."""
    W, U, b = (np.asarray(a, np.float64) for a in (cell.W_h, cell.W_x, cell.b))
    with double():
        Q = np.asarray(start_frame(jnp.zeros(len(W)), len(W), key=jr.key(0)))
    h, growth = np.zeros(len(W)), np.zeros(len(W))
    with mpmath.workdps(50):
        exact = np.vectorize(mpmath.mpf, otypes=[object])
        W_exact, columns = exact(W), list(exact(Q).T)
        for t, x in enumerate(xs):
            z = W @ h + U @ x + b
            h = np.tanh(z)
            slope = np.array([mpmath.sech(v) ** 2 for v in z])
            columns = [slope * (W_exact @ column) for column in columns]
            for j in range(len(columns)):
                for i in range(j):
                    columns[j] = columns[j] - (columns[i] @ columns[j]) * columns[i]
                length = mpmath.sqrt(columns[j] @ columns[j])
                columns[j] = columns[j] / length
                growth[j] += float(mpmath.log(length)) if t >= warmup else 0.0
    return np.sort(growth / (len(xs) - warmup))[::-1]


def test_one_saturated_step_does_not_kill_a_direction():
    """Within a step some slopes are 1e-18: a direction fades, and its exponent is finite."""
    cell = Elman.init(2, 8, key=jr.key(0))
    xs = 3 * np.random.default_rng(1).normal(size=(1000, 2))
    found = rm.lyapunov_spectrum(cell, xs)
    np.testing.assert_allclose(found.exponents[-1], -12.0724, atol=5e-5)
    short = rm.lyapunov_spectrum(cell, xs[:250], warmup=50)
    np.testing.assert_allclose(short.exponents, textbook(cell, xs[:250], 50), atol=1e-6)
    assert not short.below.any() and not found.below.any()


@pytest.mark.parametrize("fades", [(0, -36), (0, -36, -80), (3, -40, -40, -45)])
def test_units_apart_by_more_than_the_digits_of_a_float(fades):
    with double():
        cell = Diagonal(jnp.exp(jnp.array(fades, float)), jnp.ones((len(fades), 1)))
        start = jnp.zeros(len(fades))
        few = lambda h: growth_along(cell, h, None, k=2, steps=60, warmup=30)[0]
        thin = jax.jit(few)(start)
    found = rm.lyapunov_spectrum(cell, steps=60)
    np.testing.assert_allclose(found.exponents, fades, rtol=1e-12)
    np.testing.assert_allclose(thin, fades[:2], rtol=1e-9, atol=1e-12)
    assert found.converged and not found.below.any()


@pytest.mark.parametrize("bias", [17.0, -17.0, 30.0, 300.0])
def test_a_saturated_unit_has_its_own_small_slope(bias):
    with double():
        cell = Elman(jnp.array([[0.5]]), jnp.zeros((1, 1)), jnp.array([bias], jnp.float64))
    found = rm.lyapunov_spectrum(cell, steps=50)
    h = 1.0 if bias > 0 else -1.0
    exact = mpmath.log(mpmath.sech(mpmath.mpf(0.5 * h + bias)) ** 2 / 2)
    np.testing.assert_allclose(found.exponents[0], float(exact), rtol=1e-12)


def test_beyond_the_range_of_floats_a_number_that_it_is_below_is_given():
    bare = Elman(jnp.eye(1), jnp.zeros((1, 1)), jnp.array([500.0]))
    found = rm.lyapunov_spectrum(bare, steps=50)
    assert found.below.all() and -1000 < found.exponents[0] < -600
    assert "every exponent is below -66" in found.verdict
    assert np.isneginf(found.confidence()[0]).all()


class Foreign(eqx.Module):
    """Somebody's own cell, differentiated by JAX, whose slope of tanh is 1 - y² = 0 here."""

    def __call__(self, h, x):
        return jnp.tanh(jnp.array([[0.5, 0.1], [0.2, 0.7]]) @ h + jnp.array([0.0, 25]))

    def initial_state(self):
        return jnp.zeros(2)


def test_a_slope_that_rounds_to_zero_is_not_zero():
    found = rm.lyapunov_spectrum(Foreign(), steps=80)
    assert found.below.tolist() == [False, True] and -40 < found.exponents[1] < -25
    assert "rounding hides 1 exponent" in found.verdict


def test_singular_up_to_rounding_is_below_a_number_and_not_minus_infinity():
    W = np.random.default_rng(0).normal(size=(5, 5)) / 3
    W[:, 4] = W[:, :4] @ [0.1, 0.2, 0.3, 0.4]
    found = rm.lyapunov_spectrum(linear(W), steps=120)
    assert found.below.tolist() == [False] * 4 + [True]
    assert -40 < found.exponents[4] < -30
    values = np.sort(np.abs(np.linalg.eigvals(W)))[::-1][:4]
    np.testing.assert_allclose(found.exponents[:4].sum(), np.log(values).sum(), atol=0.05)


def test_minus_infinity_where_a_jacobian_is_exactly_singular():
    shift = rm.lyapunov_spectrum(linear(np.eye(4, k=-1)), steps=40)
    assert np.isneginf(shift.exponents).all() and not shift.below.any()
    # Each unit is off at some steps and none at all: the last direction dies, the rest live.
    with double():
        relu = Elman(
            jnp.array([[0.5, 0.3], [0.1, 0.9]]), jnp.array([[1.0], [-1.0]]), activation=jax.nn.relu
        )
    found = rm.lyapunov_spectrum(relu, np.cos(np.arange(60.0))[:, None])
    assert np.isneginf(found.exponents).tolist() == [False, True]
    assert "1 directions are lost" in found.verdict


@pytest.mark.parametrize("activation", [jnp.tanh, jax.nn.sigmoid])
def test_slopes_keep_their_digits(activation):
    z = np.array([0.0, 1e-9, 0.5, -3.0, 8.0, -17.0, 20.0, 100.0, -300.0])
    with double():
        value, slope = value_and_slope(activation, jnp.asarray(z))
        log = log_slope(activation, jnp.asarray(1.5 * z))
        np.testing.assert_array_equal(value, activation(jnp.asarray(z)))
    sharp = {jnp.tanh: lambda v: mpmath.sech(v) ** 2}.get(
        activation, lambda v: mpmath.sech(v / 2) ** 2 / 4
    )
    with mpmath.workdps(30):
        exact = [float(sharp(mpmath.mpf(v))) for v in z]
        logs = [float(mpmath.log(sharp(mpmath.mpf(1.5 * v)))) for v in z]
    np.testing.assert_allclose(slope, exact, rtol=1e-14)
    np.testing.assert_allclose(log, logs, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("kind", [LSTM, GRU])
def test_saturated_gates_keep_their_digits(kind):
    """Beside differences of the map itself, in 60 digits."""
    rng = np.random.default_rng(0)
    with double():
        cell = as_double(kind.init(1, 1, key=jr.key(0)))
        b = jnp.asarray(rng.choice([-25.0, 22.0], size=cell.W_h.shape[0]))
        cell = eqx.tree_at(lambda c: c.b, cell, b)
        x, state = jnp.array([0.3]), jnp.array([0.4, -0.7])
        h = (state[:1], state[1:]) if kind is LSTM else state[:1]
        size = 2 if kind is LSTM else 1
        J = np.asarray(eqx.filter_jit(rm.cells.jacobian)(cell, h, x))
    W, U, bias = (np.asarray(a)[:, 0] for a in (cell.W_h, cell.W_x, b[:, None]))
    inner = 0.0 if kind is LSTM else float(cell.b_n[0])
    sigmoid = lambda v: 1 / (1 + mpmath.exp(-v))

    def step(*state):
        z = [W[i] * state[0] + 0.3 * U[i] + bias[i] for i in range(len(W))]
        if kind is LSTM:
            c = sigmoid(z[1]) * state[1] + sigmoid(z[0]) * mpmath.tanh(z[2])
            return [sigmoid(z[3]) * mpmath.tanh(c), c]
        keep, r = sigmoid(z[1]), sigmoid(z[0])
        n = mpmath.tanh(0.3 * U[2] + bias[2] + r * (W[2] * state[0] + inner))
        return [(1 - keep) * n + keep * state[0]]

    with mpmath.workdps(60):
        at = [mpmath.mpf(0.4), mpmath.mpf(-0.7)][:size]
        tiny = mpmath.mpf(10) ** -30
        for j in range(size):
            ahead, behind = list(at), list(at)
            ahead[j], behind[j] = at[j] + tiny, at[j] - tiny
            for i, (a, b) in enumerate(zip(step(*ahead), step(*behind), strict=True)):
                exact = float((a - b) / (2 * tiny))
                np.testing.assert_allclose(J[i, j], exact, rtol=1e-12)
