"""The replay window of recurrent language models: closed forms, the stack law, refusals."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import binom
from tiny_blocks import griffin, tiny_blocks, WIDTH

import remanence as rm
from remanence.cells import Blocks, Heads, RetNet
from remanence.measure.replay.token_record import first_good
from remanence.nets import Recurrent


def language_model(name, key, **options):
    cell = tiny_blocks(name, key, **options)
    return Recurrent.init(cell, outputs=11, key=key, tokens=11)


def text(count, seed=0):
    return np.random.default_rng(seed).integers(0, 11, count)


def test_one_layer_forgets_as_its_decays_say(key):
    """Gamma of one half: the gap falls to half with every token."""
    net = language_model("retnet", key, layers=1)
    gates = RetNet(Heads(2, 3, 2), jnp.array([0.5, 0.5]))
    where = lambda net: net.cell.layers[0].recurrence.gates
    net = eqx.tree_at(where, net, gates)
    found = rm.replay_window(net, text(60), error=1e-3)
    np.testing.assert_allclose(found.gaps, found.decayed, rtol=1e-6, atol=1e-15)
    gaps = found.gaps[0] * np.exp(np.log(2) * np.arange(1, 31))
    reached = found.state_windows[:, found.room >= 16]
    assert (reached >= 5).all() and (reached <= 16).all() and reached.size > 8
    assert (np.nanmax(gaps, axis=1) / np.nanmin(gaps, axis=1) < 100).all()
    # The convolution that is not there, one layer: both bounds are the window itself.
    assert (found.own_windows == found.state_windows).all()
    can = int(np.isfinite(found.state_windows).sum())
    assert found.stack_law == (can, can) and can > 12
    assert found.bottleneck == 0 and np.isfinite(found.first_token)


def test_a_first_token_written_whole_is_part_of_the_gap(key):
    """RecurrentGemma writes the first token of a text otherwise than the same token later."""
    net = language_model("rg-lru", key, layers=1)
    where = lambda net: net.cell.layers[0].recurrence.gates
    gates = dataclasses.replace(where(net), resets=True)
    found = rm.replay_window(eqx.tree_at(where, net, gates), text(60))
    np.testing.assert_allclose(found.gaps, found.decayed, rtol=1e-6, atol=1e-12)
    plain = rm.replay_window(net, text(60))
    assert np.nanmax(np.abs(plain.gaps / found.gaps - 1)) > 0.1


@pytest.mark.parametrize("name", ["mamba", "mingru", "kda"])
def test_the_window_of_a_stack_lies_between_the_largest_and_the_sum(name, key):
    net = language_model(name, key, layers=3, convolved=True)
    found = rm.replay_window(net, text(400), error=1e-3)
    holds, can = found.stack_law
    assert can >= 12 and holds >= 0.9 * can


def test_what_is_measured_is_what_a_restart_gives(key):
    net = language_model("mamba", key, convolved=True)
    tokens = text(50)
    found = rm.replay_window(net, tokens, error=1e-3)
    assert_restarted(found, 4, net, tokens)
    assert_restarted(found, -2, net, tokens)
    last = found.excess[found.room == found.longest, -1]
    assert found.cost(found.longest) == pytest.approx(last.mean())


outputs = eqx.filter_jit(lambda net, tokens: net(tokens))


def assert_restarted(found, row, net, tokens):
    """A row is what the network itself gives from there, and NaN behind its end."""
    a, k = int(found.positions[row]), int(found.room[row])
    full = outputs(net, jnp.asarray(tokens))[a : a + k]
    # What follows changes nothing before it: one length, and one program, serves both.
    short = outputs(net, jnp.asarray(np.resize(tokens[a : a + k], len(tokens))))[:k]
    logs = [np.asarray(y, float) for y in (full, short)]
    p, q = (y - np.log(np.exp(y).sum(axis=1, keepdims=True)) for y in logs)
    asked = tokens[a + 1 : a + k + 1]
    excess = (p - q)[np.arange(k), asked]
    kl = (np.exp(p) * (p - q)).sum(1)
    np.testing.assert_allclose(found.divergence[row, :k], kl, atol=1e-5)
    np.testing.assert_allclose(found.log_probability[row, :k], np.abs(p - q).max(1), atol=1e-4)
    np.testing.assert_allclose(found.excess[row, :k], excess, atol=1e-4)
    assert np.isnan(found.divergence[row, k:]).all()


def test_positions_are_drawn_from_the_whole_text(key):
    """Were they all in the first half, a memory that the second half needs would be missed."""
    found = rm.replay_window(language_model("mingru", key), text(400))
    assert found.positions[0] == 1 and (found.texts == 0).all()
    quarters = np.bincount(found.positions[1:] * 4 // 400, minlength=4)
    assert (quarters >= 2).all() and found.longest == 200
    np.testing.assert_array_equal(found.room, np.minimum(200, 399 - found.positions))


def test_several_texts_are_one_measurement(key):
    net = language_model("mamba", key, convolved=True)
    one, two = text(60), text(30, seed=1)
    found = rm.replay_window(net, [one, two])
    assert set(found.texts) == {0, 1} and found.longest == 30
    row = int(np.argmax(found.texts))
    assert_restarted(found, row, net, two)
    padded = np.stack([one, np.pad(two, (0, 30))])
    again = rm.replay_window(net, padded, lengths=[60, 30])
    np.testing.assert_array_equal(found.divergence, again.divergence)


def test_the_record_says_what_few_starts_may_miss(key):
    found = rm.replay_window(language_model("mamba", key, convolved=True), text(50), error=1e-1)
    judges = (found.room >= found.window) & (np.arange(24) > 0)  # the first was not drawn
    more = int((found.windows[judges] > found.window).sum())
    # As likely as 1 in 20: a share so large, and no more of those drawn above the window.
    assert binom.cdf(more, judges.sum(), found.missed) == pytest.approx(0.05)
    assert f"with {found.window:.0f} tokens after them at most {found.missed:.2g}" in str(found)


def test_a_window_counts_if_every_longer_one_is_as_good():
    errors = np.array([[0.0, 2.0, 0.5, 0.1], [0.1, 0.1, 0.1, 2.0], [0.0, 0.0, 0.0, 0.0]])
    assert first_good(errors, 1.0).tolist() == [3.0, np.inf, 1.0]
    ended = np.array([[0.0, 2.0, 0.5, np.nan], [0.1, 2.0, np.nan, np.nan]])
    assert first_good(ended, 1.0).tolist() == [3.0, np.inf]


def test_refusals(key):
    net = language_model("mingru", key)
    for tokens, words in (
        (text(0), "at least 4 tokens, got 0"),
        (text(1), "at least 4 tokens, got 1"),
        (text(20).reshape(2, 5, 2), "texts of tokens"),
        ([text(20), text(2)], "at least 4 tokens, got 2"),
        (text(20) + 9, "tokens must lie in 0 to 10"),
    ):
        with pytest.raises(ValueError, match=words):
            rm.replay_window(net, tokens)
    attention = Blocks(griffin(key).layers[2:], None, WIDTH)
    with pytest.raises(ValueError, match="no layer has a recurrence"):
        rm.replay_window(Recurrent.init(attention, outputs=11, key=key, tokens=11), text(20))
    with pytest.raises(ValueError, match="error must be a positive number"):
        rm.replay_window(net, text(20), error=0)
    where = lambda net: net.cell.layers[0].W_in.W
    bad = eqx.tree_at(where, net, jnp.full((6, WIDTH), jnp.nan))
    with pytest.raises(ValueError, match=r"layers\[0\].*hold NaN"):
        rm.replay_window(bad, text(20))
