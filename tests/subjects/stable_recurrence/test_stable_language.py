"""Language models and what they read."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
import pytest

from remanence import nets
from remanence.subjects.stable_recurrence import text_and_music as language, truncated_training
from remanence.subjects.stable_recurrence.config import SONNETS
from remanence.subjects.stable_recurrence.train_stable_and_free import project


def test_dropout_leaves_out_a_share_and_nothing_without_it(key):
    net = language.model_of(SONNETS, "rnn", 9, key=key)
    tokens = jr.randint(key, (3, 12), 0, 9)
    plain = eqx.filter_jit(language.segment_loss(0.0))(net, tokens, key)
    whole = eqx.filter_jit(nets.token_cross_entropy)(net, tokens)
    assert float(plain) == pytest.approx(float(whole))
    half = eqx.filter_jit(language.segment_loss(0.5))
    one, other = (half(net, tokens, jr.key(i)) for i in (0, 1))
    assert len({float(plain), float(one), float(other)}) == 3
    dropped = language.WithDropout(net, 0.5, key)
    hidden = eqx.filter_jit(lambda model, tokens: model.hidden(tokens))(dropped, tokens[0])
    assert 0.3 < float((hidden == 0).mean()) < 0.7


def test_a_traced_window_is_the_truncated_network(key):
    net = language.model_of(SONNETS, "lstm", 9, key=key)
    rows = jr.randint(key, (2, 30), 0, 9)
    price = eqx.filter_jit(lambda net, rows: nets.token_cross_entropy(net, rows, context=8))
    for window in (1, 4):
        seen = language.truncated_cross_entropy(net, rows, jnp.asarray(window), 8)
        plain = price(nets.truncate(net, window), rows)
        assert float(seen) == pytest.approx(float(plain), rel=1e-5)


def test_the_last_loss_of_a_window_is_that_of_the_truncated_network(key):
    net = language.model_of(SONNETS, "rnn", 7, key=key)
    rows = jr.randint(key, (3, 12), 0, 7)
    near = nets.truncate(net, 4)
    logits = eqx.filter_jit(lambda net, rows: jax.vmap(net)(rows))(near, rows[:, :-1])[:, -1]
    plain = optax.softmax_cross_entropy_with_integer_labels(logits, rows[:, -1]).mean()
    seen = eqx.filter_jit(truncated_training.last_loss)(net, rows, 11 - 4)
    assert float(seen) == pytest.approx(float(plain), rel=1e-5)


def test_stable_models_read_only_what_their_proof_allows():
    model = language.model_of(SONNETS, "lstm", 40, key=jr.key(0))
    wild = jax.tree.map(lambda leaf: 9 * leaf, model)
    held = project(wild)
    assert float(jnp.abs(jnp.asarray(held.embedding)).max()) <= 0.75
    assert float(jnp.abs(held.cell.W_h).sum(1).max()) <= 0.36 + 1e-6


def test_a_window_of_the_whole_stretch_truncates_nothing(key):
    net = language.model_of(SONNETS, "rnn", 9, key=key)
    rows = jr.randint(key, (2, 30), 0, 9)
    whole = language.truncated_cross_entropy(net, rows, jnp.asarray(30), 8)
    plain = language.cross_entropy(net, rows, 8)
    assert float(whole) == pytest.approx(float(plain), rel=1e-5)
