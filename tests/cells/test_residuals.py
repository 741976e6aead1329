import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from remanence import cells


R = 0.9 * jnp.array([[0.8, -0.6], [0.6, 0.8]])


def drawn(kind, units, key):
    return kind.init(2, units, key=key)


def test_round_an_elman_it_is_the_residual_cell(key):
    inner = drawn(cells.Elman, 2, key)
    wrapped = cells.WeaklyCoupled(inner, R, coupling=0.2)
    plain = cells.Residual(R, inner.W_h, inner.W_x, inner.b, 0.2)
    h, x = jnp.array([0.3, -0.4]), jnp.array([1.0, 2.0])
    np.testing.assert_allclose(wrapped(h, x), plain(h, x), atol=1e-7)


def test_without_coupling_an_lstm_carries_both_its_parts(key):
    cell = cells.WeaklyCoupled(drawn(cells.LSTM, 2, key), R, coupling=0.0)
    values = np.linalg.eigvals(cells.jacobian(cell, cell.initial_state(), jnp.ones(2)))
    np.testing.assert_allclose(np.abs(values), 0.9, atol=1e-6)
    assert values.shape == (4,)


@pytest.mark.parametrize(
    ("activation", "slopes"),
    [
        (jnp.tanh, 1 - np.tanh([0.5, -0.5]) ** 2),
        (jax.nn.relu, [1.0, 0.0]),
        (jax.nn.leaky_relu, [1.0, 0.01]),
    ],
)
def test_a_nonlinear_residual_has_the_slope_of_its_activation(activation, slopes, key):
    inner = drawn(cells.Elman, 2, key)
    residual = lambda h: activation(0.5 * h)
    cell = cells.Residual(residual, inner.W_h, inner.W_x, inner.b, 0.0)
    J = cells.jacobian(cell, jnp.array([1.0, -1.0]), jnp.zeros(2))
    np.testing.assert_allclose(J, 0.5 * np.diag(slopes), atol=1e-6)


def test_what_does_not_fit_is_refused(key):
    inner = drawn(cells.GRU, 4, key)
    with pytest.raises(ValueError, match="coupling must not be negative, got -1"):
        cells.WeaklyCoupled(inner, 0.9, coupling=-1.0)
    with pytest.raises(ValueError, match=r"R is 2 x 2, but .* parts of \[4\]"):
        cells.WeaklyCoupled(inner, R)
    with pytest.raises(ValueError, match="coupling must not be negative"):
        cells.Residual(0.9, jnp.eye(2), jnp.eye(2), coupling=-0.5)


def test_a_wrapped_cell_is_a_pytree_that_trains(key):
    cell = cells.WeaklyCoupled(drawn(cells.GRU, 4, key), 0.9)
    gradient = eqx.filter_grad(lambda c: c(c.initial_state(), jnp.ones(2)).sum())(cell)
    assert float(jnp.abs(gradient.cell.W_x).max()) > 0
