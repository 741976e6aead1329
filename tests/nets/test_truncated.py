"""The feed-forward network of a window: its last k inputs, no more, however it is cut."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence.cells import Elman, Linear, LSTM
from remanence.nets import Recurrent, truncate, unroll


@pytest.fixture(params=[Elman, LSTM])
def net(request, key):
    key_cell, key_net = jr.split(key)
    cell = request.param.init(2, 5, key=key_cell)
    return Recurrent.init(cell, outputs=3, key=key_net)


@pytest.fixture
def elman(key):
    return Recurrent.init(Elman.init(2, 5, key=key), outputs=3, key=key)


@eqx.filter_jit
def step(net, h, x):
    return net.cell(h, x)


def alone(net, xs):
    """The output after these inputs only."""
    h = net.cell.initial_state()
    for x in xs:
        h = step(net, h, x)
    return net.read(h)


def test_a_geometric_sum_is_cut_after_k_terms():
    net = Recurrent(Linear(jnp.full((1, 1), 0.5), jnp.ones((1, 1))))
    y = truncate(net, window=3)(jnp.ones((5, 1))).ravel()
    assert y.tolist() == [1.0, 1.5, 1.75, 1.75, 1.75]


def test_each_output_is_a_run_over_its_own_window(net, key):
    xs = jr.normal(key, (11, 2))
    y = truncate(net, window=4)(xs)
    for t in range(11):
        np.testing.assert_allclose(y[t], alone(net, xs[max(0, t - 3) : t + 1]), atol=1e-6)


def test_inputs_before_the_window_are_not_felt(net, key):
    xs = jr.normal(key, (9, 2))
    felt = jax.jacobian(lambda xs: truncate(net, window=3)(xs)[-1])(xs)
    assert not np.any(felt[:, :6]) and np.all(np.any(felt[:, 6:], axis=(0, 2)))


def test_a_window_as_long_as_the_stream_changes_nothing(elman, key):
    xs = jr.normal(key, (7, 2))
    np.testing.assert_allclose(truncate(elman, window=7)(xs), elman(xs), atol=1e-6)


def test_a_stream_in_pieces_gives_the_outputs_of_the_whole(elman, key):
    xs = jr.normal(key, (12, 2))
    ff = truncate(elman, window=4)
    pieces = [ff(xs[:5]), ff(xs[5:], history=xs[2:5])]
    np.testing.assert_allclose(jnp.concatenate(pieces), ff(xs), atol=1e-6)


def test_blocks_hear_at_least_the_window(net, key):
    xs = jr.normal(key, (11, 2))
    y = truncate(net, window=4, block=3)(xs)
    for t in range(11):
        first = max(0, t - t % 3 - 3)
        np.testing.assert_allclose(y[t], alone(net, xs[first : t + 1]), atol=1e-6)


@pytest.mark.parametrize(("window", "block"), [(3, 1), (4, 2), (3, 5), (1, 1), (6, 4)])
def test_a_stream_of_single_inputs_gives_the_outputs_of_a_call(net, key, window, block):
    xs = jr.normal(key, (17, 2))
    ff = truncate(net, window=window, block=block)
    carry, outputs = ff.start(), []
    for x in xs:
        carry, y = ff.step(carry, x)
        outputs.append(y)
    assert len(jax.tree.leaves(carry)[1]) == 1 + -(-(window - 1) // block)
    np.testing.assert_allclose(outputs, ff(xs), atol=1e-6)


def test_only_the_last_output_is_read_where_only_it_is_asked_for(key):
    cell = Elman.init(2, 5, key=key)
    net = Recurrent.init(cell, outputs=3, key=key, readout="last")
    xs = jr.normal(key, (9, 2))
    np.testing.assert_allclose(truncate(net, window=4)(xs), net(xs[-4:]), atol=1e-6)


def test_a_bare_cell_is_a_network_without_readout(key):
    cell = Elman.init(2, 5, key=key)
    xs = jr.normal(key, (6, 2))
    full = unroll(cell, cell.initial_state(), xs)
    np.testing.assert_allclose(truncate(cell, window=6)(xs), full, atol=1e-6)


@pytest.mark.parametrize("options", [{"window": 0}, {"window": 2, "block": 0}])
def test_empty_windows_are_refused(options, key):
    with pytest.raises(ValueError, match="must be at least 1, got 0"):
        truncate(Elman.init(2, 5, key=key), **options)


def test_numpy_arrays_are_heard_as_they_are(elman, key):
    xs = jr.normal(key, (9, 2))
    ff = truncate(elman, window=3)
    np.testing.assert_array_equal(ff(np.asarray(xs, np.float64)), ff(xs))
    cut = ff(np.asarray(xs[5:]), history=np.asarray(xs[3:5]))
    np.testing.assert_allclose(cut, ff(xs)[5:], atol=1e-6)


def test_a_fraction_is_no_window(elman):
    for window in (1.5, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="window must be a whole number, got"):
            truncate(elman, window=window)
    assert truncate(elman, window=3.0).window == 3
