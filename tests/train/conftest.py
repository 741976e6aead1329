"""The problem that tests of `fit` share."""

import jax.random as jr
import pytest

from remanence import cells, nets


@pytest.fixture(scope="module")
def problem():
    key_cell, key_read, key_data = jr.split(jr.key(0), 3)
    cell = cells.Elman.init(1, 4, key=key_cell)
    net = nets.Recurrent.init(cell, outputs=1, key=key_read)
    xs = jr.normal(key_data, (16, 5, 1))
    return net, (xs, xs.sum((1, 2)))
