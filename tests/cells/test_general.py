"""Cells with options, where the options are the usual ones, are the usual cells."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence import cells, nets


def general(cell):
    if isinstance(cell, cells.LSTM):
        return cells.GeneralLSTM(cell.W_h, cell.W_x, cell.b)
    return cells.GeneralGRU(cell.W_h, cell.W_x, cell.b, cell.b_n, reset_after=True)


@pytest.mark.parametrize("kind", [cells.LSTM, cells.GRU])
def test_the_usual_options_give_the_usual_cell(kind, key):
    cell = kind.init(3, 4, key=key)
    xs = jr.normal(key, (6, 3))
    expected = nets.Recurrent(cell)(xs)
    np.testing.assert_allclose(nets.Recurrent(general(cell))(xs), expected, atol=1e-6)
    h = cell(cell.initial_state(), xs[0])
    J = cells.jacobian(cell, h, xs[1])
    np.testing.assert_allclose(cells.jacobian(general(cell), h, xs[1]), J, atol=1e-6)


def test_a_started_cell_begins_elsewhere_and_goes_on_the_same(key):
    cell = cells.GRU.init(3, 4, key=key)
    xs = jr.normal(key, (6, 3))
    first = cell(cell.initial_state(), xs[0])
    started = cells.Started(cell, first)
    whole = nets.Recurrent(cell)(xs)
    np.testing.assert_allclose(nets.Recurrent(started)(xs[1:]), whole[1:], atol=1e-6)
    np.testing.assert_array_equal(
        cells.jacobian(started, first, xs[1]), cells.jacobian(cell, first, xs[1])
    )


def test_sizes_that_do_not_fit_are_refused():
    ones = lambda *shape: jnp.ones(shape)
    with pytest.raises(ValueError, match="4N rows for N units, got 8 for 3"):
        cells.GeneralLSTM(ones(8, 3), ones(8, 2))
    with pytest.raises(ValueError, match="3N x N"):
        cells.GeneralGRU(ones(8, 3), ones(8, 2))
