"""Gradients against reverse mode, over all directions of the input, and where they level off."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence._precision import as_double, double
from remanence.cells import Diagonal, Elman, GRU, Linear, LSTM
from remanence.measure import gradient_decay, gradients as module, memory_horizon
from remanence.nets import unroll


def register(length):
    """A linear shift register: unit i holds the input of i steps ago."""
    return Linear(jnp.eye(length, k=-1), jnp.eye(length, 1))


def test_gradients_of_a_shift_register_end_at_its_end():
    decay = gradient_decay(register(5), np.ones((60, 1)), lags=10)
    np.testing.assert_allclose(decay.norms, np.tile([1] * 5 + [0] * 6, (len(decay.norms), 1)))
    assert decay.remembers == 5


@pytest.mark.parametrize("kind", [Elman, LSTM, GRU])
def test_gradients_are_those_of_reverse_mode(kind):
    with double():
        cell = as_double(kind.init(3, 4, key=jr.key(0)))
        xs = jr.normal(jr.key(1), (30, 3))

        def state(xs, t):
            leaves = jax.tree.leaves(unroll(cell, cell.initial_state(), xs))
            return jnp.concatenate([leaf[t] for leaf in leaves])

        full = np.asarray(jax.jacrev(state)(xs, 17))
    decay = gradient_decay(cell, np.asarray(xs), lags=12)
    where = list(decay.positions).index(10)
    np.testing.assert_allclose(decay.norms[where, 7], np.linalg.norm(full[:, 10]), rtol=1e-10)


def test_however_wide_the_input_every_direction_counts():
    key_cell, key_x = jr.split(jr.key(0))
    with double():
        cell = as_double(Elman.init(40, 3, key=key_cell))
        xs = jr.normal(key_x, (20, 40))
        last = lambda xs: unroll(cell, cell.initial_state(), xs)[14]
        full = np.asarray(jax.jacrev(last)(xs))
    for key in (jr.key(1), jr.key(2)):
        decay = gradient_decay(cell, np.asarray(xs), lags=8, key=key)
        where = list(decay.positions).index(9)
        assert (decay.directions, decay.exact) == (3, True)
        np.testing.assert_allclose(decay.norms[where, 5], np.linalg.norm(full[:, 9]), rtol=1e-10)


def test_where_the_work_is_too_much_a_drawn_few_are_without_bias(monkeypatch):
    monkeypatch.setattr(module, "WORK", 1.0)
    cell = Linear(0.5 * jnp.eye(30), jr.normal(jr.key(0), (30, 40)))
    decay = gradient_decay(cell, np.zeros((120, 40)), lags=4, positions=100)
    assert (decay.directions, decay.exact, len(decay.positions)) == (16, False, 16)
    exact = float(jnp.linalg.norm(cell.W_x))
    found = np.sqrt(np.mean(decay.norms[:, 0] ** 2))
    np.testing.assert_allclose(found, exact, rtol=0.05)
    assert decay.norms[:, 0].std() > 0


def test_a_gradient_that_levels_off_is_not_said_to_be_forgotten():
    share = 0.2
    cell = Diagonal(jnp.asarray([1.0, 0.8]), jnp.asarray([[share], [(1 - share**2) ** 0.5]]))
    decay = gradient_decay(cell, np.zeros((700, 1)), lags=300)
    relative = np.sqrt(share**2 + (1 - share**2) * 0.64 ** np.arange(301))
    np.testing.assert_allclose(decay.quantile(0.5), relative, rtol=1e-6)
    assert decay.remembers == np.argmax(relative <= np.exp(-1)) == 6
    level = decay.plateau
    assert level is not None and level.until == 300
    np.testing.assert_allclose(level.level, share, rtol=1e-6)
    assert level.lag == np.argmax(relative <= 1.1 * share) == 11
    assert "levels off at 0.2 of its first size from lag 11" in decay.sentence()
    assert decay.sentence().startswith("remembers for more than 300 steps")
    panel = memory_horizon(cell, np.zeros((700, 1)), lags=300, quick=True)
    assert "nothing more is forgotten up to lag 300" in str(panel)


def test_what_fades_or_grows_has_no_level_and_what_turns_is_never_forgotten():
    turn = jnp.asarray([[0.6, -0.8], [0.8, 0.6]])
    levels = [
        gradient_decay(Linear(r * turn, jnp.eye(2)), np.zeros((300, 2)), lags=100)
        for r in (1.0, 0.99, 0.5, 1.05)
    ]
    assert [decay.plateau is None for decay in levels] == [False, True, True, True]
    level = levels[0].plateau
    assert level is not None and level.level == pytest.approx(1, rel=1e-4)
    assert str(level) == "nothing is forgotten up to lag 100"


def test_every_sequence_of_a_batch_is_looked_at_and_padding_is_not_heard():
    cell = Elman.init(2, 5, key=jr.key(0))
    xs = np.asarray(3 * jr.normal(jr.key(1), (4, 60, 2)))
    lengths = np.array([60, 30, 12, 45])
    padded = np.where(np.arange(60)[:, None] < lengths[:, None, None], xs, 1e6)
    decay = gradient_decay(cell, padded, lengths=lengths, lags=20, positions=1000)
    assert set(decay.sequences) == {0, 1, 3}  # the third is too short for 20 lags
    assert len(decay.positions) == (60 - 20) + (30 - 20) + (45 - 20)
    alone = gradient_decay(cell, xs[3, :45], lags=20, positions=1000)
    mine = decay.sequences == 3
    np.testing.assert_array_equal(decay.positions[mine], alone.positions)
    np.testing.assert_allclose(decay.norms[mine], alone.norms, rtol=1e-10)


def test_lags_must_fit_into_the_longest_sequence():
    cell = Elman.init(2, 3, key=jr.key(0))
    with pytest.raises(ValueError, match="lags must lie in 1 to 19, got 20"):
        gradient_decay(cell, np.ones((20, 2)), lags=20)
