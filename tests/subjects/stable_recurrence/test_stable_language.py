"""Language models and what they read."""

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
    plain = language.segment_loss(0.0)(net, tokens, key)
    assert float(plain) == pytest.approx(float(nets.token_cross_entropy(net, tokens)))
    one, other = (language.segment_loss(0.5)(net, tokens, jr.key(i)) for i in (0, 1))
    assert len({float(plain), float(one), float(other)}) == 3
    hidden = language.WithDropout(net, 0.5, key).hidden(tokens[0])
    assert 0.3 < float((hidden == 0).mean()) < 0.7


def test_a_traced_window_is_the_truncated_network(key):
    net = language.model_of(SONNETS, "lstm", 9, key=key)
    rows = jr.randint(key, (2, 30), 0, 9)
    for window in (1, 4):
        seen = language.truncated_cross_entropy(net, rows, jnp.asarray(window), 8)
        plain = nets.token_cross_entropy(nets.truncate(net, window), rows, context=8)
        assert float(seen) == pytest.approx(float(plain), rel=1e-5)


def test_the_last_loss_of_a_window_is_that_of_the_truncated_network(key):
    net = language.model_of(SONNETS, "rnn", 7, key=key)
    rows = jr.randint(key, (3, 12), 0, 7)
    near = nets.truncate(net, 4)
    logits = jax.vmap(near)(rows[:, :-1])[:, -1]
    plain = optax.softmax_cross_entropy_with_integer_labels(logits, rows[:, -1]).mean()
    assert float(truncated_training.last_loss(net, rows, 11 - 4)) == pytest.approx(
        float(plain), rel=1e-5
    )


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
