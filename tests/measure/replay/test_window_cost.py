"""What windows cost in nats and accuracy, beside networks that are really truncated."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy.special import logsumexp

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import Elman, GRU
from remanence.nets import Recurrent, window_states


TOKENS, LENGTHS = 5, [30, 17]


@pytest.fixture(scope="module")
def language_model():
    with double():
        cell = GRU.init(3, 8, key=jr.key(0))
        net = as_double(Recurrent.init(cell, outputs=TOKENS, key=jr.key(1), tokens=TOKENS))
        return Recurrent(cell, 9 * net.W_y, net.b_y, 2 * net.embedding)


@pytest.fixture(scope="module")
def tokens():
    return np.random.default_rng(0).integers(0, TOKENS, (2, 30))


@eqx.filter_jit
def logits(net, xs, window):
    return jax.vmap(net.read)(window_states(net.cell, net.embed(xs), window))


def losses(net, tokens, window):
    """Cross-entropy and hits at every position that has a next token, by truncation."""
    loss, hits = [], []
    with double():
        for row, length in zip(tokens, LENGTHS, strict=True):
            y = np.asarray(logits(net, jnp.asarray(row), jnp.asarray(window)))
            y, z = y[: length - 1], row[1:length]
            loss.append(logsumexp(y, axis=1) - y[np.arange(length - 1), z])
            hits.append(y.argmax(1) == z)
    return loss, hits


def test_the_cost_is_that_of_the_truncated_network(language_model, tokens):
    found = rm.replay_window(language_model, tokens, lengths=LENGTHS)
    cost = found.cost
    assert cost.windows.tolist() == sorted({1, 2, 4, 8, 16, int(found.worst)})
    full, _ = (np.concatenate(a) for a in losses(language_model, tokens, 30))
    assert cost.full_loss == pytest.approx(full.mean(), rel=1e-9)
    assert cost.targets == len(full) == sum(LENGTHS) - 2
    for k, loss, accuracy in zip(cost.windows, cost.loss, cost.accuracy, strict=True):
        one, hits = (np.concatenate(a) for a in losses(language_model, tokens, int(k)))
        assert loss == pytest.approx(one.mean(), rel=1e-9)
        assert accuracy == pytest.approx(hits.mean(), rel=1e-9)
    np.testing.assert_allclose(cost.excess, cost.loss - full.mean())
    assert abs(cost.excess[0]) > 0.05 and abs(cost.excess[-1]) < 1e-3
    assert "nats a token, a reset every" in found.decision


def test_a_reset_costs_the_mean_over_its_phase(language_model, tokens):
    cost = rm.replay_window(language_model, tokens, lengths=LENGTHS).cost
    N = 4
    by_window = [losses(language_model, tokens, k)[0] for k in range(1, N + 1)]
    phases = []
    for phase in range(N):
        for s, length in enumerate(LENGTHS):
            # The state is empty before input `phase`, and every N inputs after.
            phases += [[by_window[(t - phase) % N][s][t] for t in range(length - 1)]]
    expected = np.mean(np.concatenate(phases))
    assert cost.reset[cost.windows.tolist().index(N)] == pytest.approx(expected)
    assert abs(cost.reset_excess[1] - cost.excess[1]) > 1e-3  # another question


def test_one_target_a_sequence_where_only_the_last_output_is_read():
    cell = Elman.init(2, 4, key=jr.key(0))
    net = Recurrent.init(cell, outputs=3, key=jr.key(1), readout="last")
    xs = np.asarray(jr.normal(jr.key(2), (3, 20, 2)))
    ends, targets = [20, 9, 14], np.array([0, 2, 1])
    cost = rm.replay_window(net, xs, lengths=ends, targets=targets).cost
    assert cost.targets == 3
    with double():
        wide = as_double(net)
        for k, loss in zip(cost.windows, cost.loss, strict=True):
            one = [
                -jax.nn.log_softmax(logits(wide, jnp.asarray(x), jnp.asarray(k))[end - 1])[z]
                for x, end, z in zip(np.float64(xs), ends, targets, strict=True)
            ]
            assert loss == pytest.approx(float(np.mean(one)), rel=1e-9)


def test_what_cannot_be_priced_is_not(language_model, tokens):
    silent = Recurrent(language_model.cell, embedding=language_model.embedding)
    assert rm.replay_window(silent, tokens).cost is None
    softmax = lambda h: jax.nn.softmax(language_model.W_y @ h)
    sure = Recurrent(silent.cell, embedding=silent.embedding, head=softmax)
    assert rm.replay_window(sure, tokens).cost is None
    with pytest.raises(ValueError, match="the outputs are probabilities"):
        rm.replay_window(sure, tokens, targets=tokens)
    with pytest.raises(ValueError, match="largest target must lie in 0 to 4, got 5"):
        rm.replay_window(language_model, tokens, targets=tokens + 1)
