"""Networks: readouts, embeddings, batches."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence import cells, measure, nets


@pytest.fixture
def net(key):
    cell = cells.GRU.init(3, 5, key=key)
    return nets.Recurrent.init(cell, outputs=2, key=key, tokens=7)


def test_tokens_are_rows_of_the_embedding(net):
    tokens = jnp.array([1, 4, 6])
    np.testing.assert_array_equal(net(tokens), net(net.embedding[tokens]))


def test_reading_at_every_step_ends_with_reading_at_the_last(net, key):
    xs = jr.normal(key, (5, 3))
    last = nets.Recurrent(net.cell, net.W_y, net.b_y, readout="last")
    np.testing.assert_allclose(net(xs)[-1], last(xs), atol=1e-6)


def test_a_state_carried_over_continues_the_sequence(net, key):
    xs = jr.normal(key, (9, 3))
    first = nets.unroll(net.cell, net.cell.initial_state(), xs[:4])
    rest = net(xs[4:], h0=first[-1])
    np.testing.assert_allclose(rest, net(xs)[4:], atol=1e-6)


def test_tokens_without_an_embedding_are_refused(net):
    deaf = nets.Recurrent(net.cell, net.W_y, net.b_y)
    with pytest.raises(ValueError, match="no embedding"):
        deaf(jnp.array([0, 1]))


def test_numpy_arrays_are_heard_as_they_are(net, key):
    xs = jr.normal(key, (6, 3))
    np.testing.assert_array_equal(net(np.asarray(xs, np.float64)), net(xs))


def test_a_token_beyond_the_embedding_is_refused_not_read_as_its_last(net):
    for tokens in ([0, 7], [-1, 3]):
        with pytest.raises(ValueError, match="tokens must lie in 0 to 6, got"):
            net(jnp.array(tokens))
    assert net(jnp.zeros(0, int)).shape == (0, 2)


def test_inputs_of_another_width_are_refused_with_one_sentence(net):
    with pytest.raises(ValueError, match=r"3 numbers a step would do, got .*\(6, 4\)"):
        net(jnp.ones((6, 4)))


def test_any_function_can_be_the_head(key):
    net = nets.Recurrent.init(cells.Elman.init(3, 5, key=key), outputs=2, key=key)
    xs = jr.normal(key, (6, 3))
    head = eqx.nn.MLP(5, 2, 4, 1, key=key)
    headed = nets.Recurrent(net.cell, head=head)
    states = nets.unroll(net.cell, net.cell.initial_state(), xs)
    expected = jax.vmap(lambda h: head(h))(states)
    np.testing.assert_allclose(headed(xs), expected, rtol=1e-6)
    # The quick way of a batch knows affine readouts only.
    np.testing.assert_allclose(nets.on_batch(headed, xs[None])[0], expected, rtol=1e-6)
    gaps = measure.truncation_error(headed, xs, [6, 1], gradients=False)
    assert gaps.outputs[0] == 0 < gaps.outputs[1]
    proof = measure.contraction(cells.Linear(0.5 * jnp.eye(1), jnp.ones((1, 1))), input_bound=1)
    with pytest.raises(ValueError, match="nothing is proved behind a head"):
        measure.truncation_bound(proof, 3, net=headed)
    with pytest.raises(ValueError, match="a head takes the place of W_y"):
        nets.Recurrent(net.cell, net.W_y, head=head)
