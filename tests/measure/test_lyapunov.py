"""Exponents with closed forms first; then what every measurement owes its user."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import mpmath
import numpy as np
import pytest

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import (
    AbstractCell,
    Diagonal,
    dimension,
    Elman,
    GRU,
    jacobian,
    Linear,
    LSTM,
    Residual,
    Stack,
)
from remanence.measure import exponents_along
from remanence.measure.lyapunov_frame import segment, start_frame
from remanence.nets import Recurrent, unroll


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


def linear(W):
    with double():
        return Linear(jnp.asarray(W, jnp.float64), jnp.zeros((W.shape[0], 1)))


def tanh_net(units=12, *, gain=1.2, seed=0, steps=600, inputs=2):
    key_cell, key_x = jr.split(jr.key(seed))
    cell = Elman.init(inputs, units, key=key_cell, gain=gain)
    return cell, np.asarray(jr.normal(key_x, (steps, inputs)))


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
    found = rm.lyapunov_spectrum(shift, steps=40, h0=jnp.array([0.3]), feedback=say)
    np.testing.assert_allclose(found.exponents, np.log(n), atol=1e-12)


def test_feedback_counts_in_the_jacobian():
    cell = Linear(0.5 * jnp.eye(2), jnp.eye(2))
    found = rm.lyapunov_spectrum(cell, steps=50, feedback=lambda h: 0.25 * h)
    np.testing.assert_allclose(found.exponents, np.log(0.75), atol=1e-12)


CELLS = {
    "elman": lambda key: Elman.init(3, 5, key=key, gain=1.5),
    "relu": lambda key: Elman.init(3, 5, key=key, gain=1.5, activation=jax.nn.softplus),
    "lstm": lambda key: LSTM.init(3, 4, key=key),
    "gru": lambda key: GRU.init(3, 5, key=key),
    "residual": lambda key: Residual.init(3, 5, key=key, residual=0.9),
    "diagonal": lambda key: Diagonal.init(3, 3, key=key),
    "stack": lambda key: Stack((LSTM.init(3, 2, key=key), GRU.init(2, 3, key=key))),
}


def jacobians(cell, xs):
    """The Jacobian of every step from the cell's own initial state."""
    h0 = cell.initial_state()
    shift = lambda first, rest: jnp.concatenate([first[None], rest[:-1]])
    before = jax.tree.map(shift, h0, unroll(cell, h0, xs))
    return np.asarray(jax.vmap(jacobian, in_axes=(None, 0, 0))(cell, before, xs))


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
            lambda stop, interval: segment(
                cell, h0, Q, xs, start=0, stop=stop, interval=interval
            )
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
        _, f, _, o = jax.vmap(cell.gates)(hidden, xs)
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


def test_the_first_exponents_are_those_of_the_whole():
    cell, xs = tanh_net(24, gain=0.9)
    whole = rm.lyapunov_spectrum(cell, xs, warmup=300)
    first = rm.lyapunov_spectrum(cell, xs, warmup=300, k=3)
    assert first.exponents.shape == (3,) and not first.complete
    np.testing.assert_allclose(first.exponents, whole.exponents[:3], atol=5e-3)


def test_several_sequences_and_their_lengths():
    cell, xs = tanh_net(6, gain=0.9, steps=900)
    parts = xs.reshape(3, 300, 2)
    alone = [rm.lyapunov_spectrum(cell, part, warmup=60) for part in parts]
    together = rm.lyapunov_spectrum(cell, parts, warmup=60)
    mean = np.mean([each.exponents for each in alone], axis=0)
    np.testing.assert_allclose(together.exponents, mean, atol=1e-7)
    assert together.sequences == 3 and together.dof > alone[0].dof
    padded = parts.copy()
    padded[1, 200:] = 1e3
    short = rm.lyapunov_spectrum(cell, padded, warmup=60, lengths=[300, 200, 300])
    lone = rm.lyapunov_spectrum(cell, parts[1, :200], warmup=60)
    weights = np.array([240, 140, 240]) / 620
    rows = [alone[0].exponents, lone.exponents, alone[2].exponents]
    np.testing.assert_allclose(short.exponents, weights @ np.array(rows), atol=1e-7)


def test_a_network_hears_tokens_through_its_embedding(key):
    net = Recurrent.init(GRU.init(4, 5, key=key), outputs=2, tokens=7, key=key)
    tokens = np.arange(200) % 7
    found = rm.lyapunov_spectrum(net, tokens)
    assert net.embedding is not None
    again = rm.lyapunov_spectrum(net.cell, np.asarray(net.embedding)[tokens])
    np.testing.assert_array_equal(found.exponents, again.exponents)
    with pytest.raises(ValueError, match="tokens must lie in 0 to 6, got 0 to 7"):
        rm.lyapunov_spectrum(net, np.arange(8))


def test_the_core_maps_over_networks():
    with double():
        keys = jr.split(jr.key(0), 3)
        cells = jax.vmap(lambda key: Elman.init(2, 6, key=key))(keys)
        xs = jr.normal(jr.key(1), (100, 2))
        lane = lambda cell: exponents_along(cell, jnp.zeros(6), xs, k=2, interval=3)
        found = jax.jit(jax.vmap(lane))(cells)
        one = jax.tree.map(lambda leaf: leaf[1], cells)
        np.testing.assert_allclose(found[1], lane(one), rtol=1e-9)


def test_dead_directions_are_minus_infinity_with_a_word():
    dead = rm.lyapunov_spectrum(linear(np.zeros((3, 3))), steps=50)
    assert np.isneginf(dead.exponents).all() and "dead" in dead.verdict
    assert not np.isnan(dead.running).any() and dead.kaplan_yorke == 0
    assert (dead.stderr == 0).all() and not np.isnan(dead.confidence()[0]).any()
    relu = Elman(
        jnp.array([[0.5, 0.1], [0.0, 0.9]]),
        jnp.array([[1.0], [-1.0]]),
        activation=jax.nn.relu,
    )
    half = rm.lyapunov_spectrum(relu, np.ones((60, 1)))
    np.testing.assert_allclose(half.exponents, [np.log(0.5), -np.inf], atol=1e-12)
    assert "1 directions" in half.verdict


@pytest.mark.parametrize("rate", [1e-30, 1e30])
def test_huge_exponents_neither_underflow_nor_overflow(rate):
    found = rm.lyapunov_spectrum(linear(rate * np.eye(2)), steps=100)
    np.testing.assert_allclose(found.exponents, np.log(rate), rtol=1e-12)


def test_a_state_that_leaves_the_floats_is_told():
    grow = Elman(jnp.array([[3.0]]), jnp.ones((1, 1)), activation=jax.nn.softplus)
    found = rm.lyapunov_spectrum(grow, np.ones((2000, 1)), warmup=100)
    assert (
        not found.converged and found.diverged_at and "range of floats" in found.verdict
    )
    np.testing.assert_allclose(found.exponents, np.log(3), atol=1e-6)
    with pytest.raises(ValueError, match="leaves the range of floats"):
        rm.lyapunov_spectrum(grow, np.ones((2000, 1)), warmup=1500)


class Widening(eqx.Module):
    """A cell of somebody's own that is none yet."""

    times: int = 2

    def __call__(self, h, x):
        if not self.times:
            raise ValueError("no input would do")
        return jnp.tile(h, self.times)

    def initial_state(self):
        return jnp.zeros(2)


def test_refusals():
    cell, xs = tanh_net(4)
    broken = eqx.tree_at(lambda c: c.W_h, cell, cell.W_h.at[0, 0].set(jnp.nan))
    cases = [
        (broken, xs, {}, "the weights W_h hold NaN or infinite numbers"),
        (cell, xs[:, :1], {}, "the cell hears 2 numbers a step, the inputs have 1"),
        (cell, xs, {"warmup": 600}, "600 steps of warm-up, 600 steps of sequence"),
        (cell, xs, {"warmup": -1}, "warm-up"),
        (cell, xs, {"k": 5}, "k must lie between 1 and 4, got 5"),
        (cell, xs, {"interval": 0}, "interval must be at least 1, got 0"),
        (cell, None, {}, "a map without inputs needs steps"),
        (cell, xs, {"steps": 3}, "give inputs or steps, not both"),
        (cell, xs[0], {}, "time x width"),
        (cell, np.full((9, 2), np.inf), {}, "the inputs hold NaN"),
        (cell, xs[:0], {}, "empty"),
        (cell, xs * 1j, {}, "the inputs must be real numbers, got complex"),
        (cell, "abc", {}, "the inputs must be real numbers, got <U3"),
        (cell, [[1.0, 2.0], [1.0]], {}, "the inputs must be one array, got rows"),
        (None, xs, {}, "a cell has .* which NoneType has not"),
        (Widening(), xs, {}, "a step must keep the state's shape"),
        (Widening(times=0), xs, {}, "takes no step on an input of 2 numbers: no input"),
        (cell, xs, {"lengths": [3]}, "lengths go with a batch"),
        (cell, xs[None], {"lengths": [700]}, "lengths must lie in 1 to 600"),
        (cell, xs, {"feedback": lambda h: h[:2]}, "closed loop"),
        (cell, xs, {"h0": jnp.full(4, jnp.nan)}, "initial state"),
    ]
    for subject, inputs, options, sentence in cases:
        with pytest.raises(ValueError, match=sentence):
            rm.lyapunov_spectrum(subject, inputs, **options)
