"""Projections: onto the set, nearest, and certified afterwards."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence.cells import Diagonal, Elman, Linear, LSTM, Stack
from remanence.measure import contraction
from remanence.train.projection import INPUT_BOUND, inside_ball, stable


def scaled(cell, gain):
    return jax.tree.map(lambda leaf: leaf * gain, cell)


def test_clipping_keeps_small_singular_values():
    W = jnp.diag(jnp.array([3.0, 0.5]))
    cell = stable(Linear(W, jnp.ones((2, 1))), rate=0.9)
    np.testing.assert_allclose(cell.W_h, np.diag([0.9, 0.5]), atol=1e-6)


def test_the_ball_projection_in_closed_form():
    rows = jnp.array([[3.0, 1.0], [0.1, -0.2], [1.0, -1.0]])
    nearest = [[1.0, 0.0], [0.1, -0.2], [0.5, -0.5]]
    np.testing.assert_allclose(inside_ball(rows, 1.0), nearest, atol=1e-6)


def test_no_point_of_the_ball_is_nearer(key):
    row = jr.normal(key, (1, 7))
    found = inside_ball(row, 1.0)
    assert float(jnp.abs(found).sum()) == pytest.approx(1.0, abs=1e-6)
    for other in jr.dirichlet(key, jnp.ones(7), (200,)):
        assert jnp.linalg.norm(row - found) <= jnp.linalg.norm(row - other * jnp.sign(row))


@pytest.mark.parametrize("kind", [Elman, Linear, LSTM])
def test_projected_cells_are_certified(kind, key):
    wild = scaled(kind.init(3, 12, key=key), 5.0)
    assert contraction(wild, input_bound=INPUT_BOUND, metric="norm").vacuous
    proof = contraction(stable(wild), input_bound=INPUT_BOUND, metric="norm")
    assert proof.rate < 1
    # A cell inside the set is left alone, up to rounding.
    tame = scaled(kind.init(3, 12, key=key), 0.001)
    near = jax.tree.map(lambda a, b: np.max(np.abs(a - b)), stable(tame), tame)
    assert max(jax.tree.leaves(near)) < 1e-6


def test_each_layer_of_a_stack_is_projected(key):
    layers = Stack((Elman.init(3, 6, key=key, gain=3.0), LSTM.init(6, 4, key=key)))
    assert not contraction(stable(layers, rate=0.5).cells[0], metric="norm").vacuous


def test_refusals(key):
    with pytest.raises(ValueError, match="strictly between 0 and 1, got 1"):
        stable(Elman.init(1, 2, key=key), rate=1.0)
    with pytest.raises(ValueError, match="no stable set is known for a Diagonal"):
        stable(Diagonal.init(1, 2, key=key))
