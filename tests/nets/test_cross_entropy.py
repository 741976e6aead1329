"""The quick language-model step against plain autodiff of the same loss."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

from remanence import cells, nets
from remanence._precision import as_double, double
from remanence.nets import cross_entropy


def language_model(kind, tokens, key):
    key_c, key_y = jr.split(key)
    cell = {"rnn": cells.Elman, "lstm": cells.LSTM, "gru": cells.GRU}[kind].init(3, 6, key=key_c)
    return nets.Recurrent.init(cell, outputs=tokens, key=key_y, tokens=tokens)


def plain(net, tokens, context=1):
    logits = jax.vmap(net)(tokens[:, :-1])
    each = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
    return each[:, context - 1 :].mean()


@pytest.mark.parametrize(
    ("kind", "vocabulary", "held", "context"),
    [("rnn", 11, 2**21, 1), ("lstm", 11, 40, 3), ("lstm", 40, 55, 1), ("gru", 11, 40, 3)],
)
def test_the_quick_loss_is_the_plain_one(kind, vocabulary, held, context, key, monkeypatch):
    # 21 positions: more than 11 tokens, fewer than 40.
    monkeypatch.setattr(cross_entropy, "CACHED", held)
    with double():
        net = as_double(language_model(kind, vocabulary, key))
        tokens = jr.randint(key, (3, 8), 0, vocabulary)
        quick = lambda net: nets.token_cross_entropy(net, tokens, context=context)
        slow = lambda net: plain(net, tokens, context)
        one, two = (jax.jit(jax.value_and_grad(loss))(net) for loss in (quick, slow))
        assert float(one[0]) == pytest.approx(float(jax.jit(quick)(net)), rel=1e-13)
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_even_odds_lose_the_log_of_their_number(key):
    net = language_model("lstm", 7, key)
    flat = jax.tree.map(jnp.zeros_like, net)
    tokens = jr.randint(key, (2, 5), 0, 7)
    assert float(nets.token_cross_entropy(flat, tokens)) == pytest.approx(np.log(7), rel=1e-6)


def test_a_context_that_no_position_has_is_refused(key):
    net = language_model("rnn", 4, key)
    with pytest.raises(ValueError, match="no position of 4 has a context of 5"):
        nets.token_cross_entropy(net, jnp.zeros((2, 5), jnp.int32), context=5)


@pytest.mark.parametrize(
    ("biased", "inputs", "readout"), [(True, 2, "every"), (False, 2, "last"), (True, 9, "last")]
)
def test_a_batch_through_an_lstm_is_plain_autodiff(readout, biased, inputs, key):
    with double():
        cell = as_double(cells.LSTM.init(inputs, 5, key=key))
        cell = cell if biased else cells.LSTM(cell.W_h, cell.W_x)
        net = as_double(nets.Recurrent.init(cell, outputs=3, key=key, readout=readout))
        xs = jr.normal(key, (4, 6, inputs), jnp.float64)

        def loss(parts, way):
            return jnp.sin(way(*parts)).sum()

        slow, quick = (
            eqx.filter_jit(eqx.filter_value_and_grad(loss))((net, xs), way)
            for way in (lambda net, xs: jax.vmap(net)(xs), nets.on_batch)
        )
        for a, b in zip(jax.tree.leaves(slow), jax.tree.leaves(quick), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
