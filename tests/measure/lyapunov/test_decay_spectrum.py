"""Exponents as means of log decays, beside frames, closed forms and sum rules."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from linear_recurrences import DELTA, GATES, recurrences
from scipy.signal import lfilter
from tiny_blocks import griffin, tiny_blocks, WIDTH

import remanence as rm
from remanence._precision import as_double, double
from remanence.cells import AbstractCell, Blocks, Diagonal, dimension, SLSTM
from remanence.cells.delta_rule import log_determinants


KINDS = recurrences()


def texts(steps, width=WIDTH, seed=0):
    return np.random.default_rng(seed).standard_normal((steps, width))


@pytest.mark.parametrize("name", KINDS)
def test_frames_give_the_same(name, key):
    cell = KINDS[name](key)
    xs = texts(1000, 5)
    closed = rm.lyapunov_spectrum(cell, xs)
    frames = rm.lyapunov_spectrum(cell, xs, interval=1)
    assert closed.method != "frames" == frames.method
    assert closed.dimension == frames.dimension == len(closed.exponents) == dimension(cell)
    error = np.hypot(closed.stderr, frames.stderr)
    # Frames need a while to find their directions, a nat or so in all.
    assert (np.abs(closed.exponents - frames.exponents) < 4 * error + 3 / 800).all()


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("mlstm", "rwkv6")]


@pytest.mark.parametrize("name", ["mamba", "gated deltanet", *SLOW])
def test_frames_of_a_whole_stack_give_the_same(name, key):
    cell = tiny_blocks(name, key)
    xs = texts(800)
    closed = rm.lyapunov_spectrum(cell, xs)
    count = len(closed.exponents)
    assert count == dimension(cell) - WIDTH and closed.lost == 0
    frames = rm.lyapunov_spectrum(cell, xs, interval=1, k=min(count, 12))
    error = np.hypot(closed.stderr[:12], frames.stderr)
    gap = np.abs(closed.exponents[:12] - frames.exponents)
    assert (gap < 4 * error + 3 / 640).all()


@pytest.mark.parametrize("name", GATES | DELTA)
def test_sums_are_the_mean_log_volume(name, key):
    cell = tiny_blocks(name, key, layers=1)
    xs = texts(200)
    found = rm.lyapunov_spectrum(cell, xs)

    @eqx.filter_jit
    def mean_volume(cell, xs):
        us = cell.along(cell.initial_state(), xs)[2][0].inputs[found.warmup :]
        volume = cell.layers[0].recurrence.log_volume()
        return jnp.mean(jax.vmap(volume, in_axes=(None, 0))(None, us))

    with double():
        mean = np.asarray(mean_volume(as_double(cell), jnp.asarray(xs)))
    np.testing.assert_allclose(found.exponents.sum(), mean, rtol=1e-10)
    (layer,) = found.layers
    assert layer.exponents.size * layer.multiplicity == len(found.exponents)


def test_heads_obey_the_sum_rule_of_a_delta_rule(key):
    cell = tiny_blocks("kda", key, layers=1)
    xs = texts(150)
    (layer,) = rm.lyapunov_spectrum(cell, xs, warmup=0).layers
    with double():
        wide = as_double(cell)
        us = wide.along(wide.initial_state(), jnp.asarray(xs))[2][0].inputs
        us = us[len(us) - layer.steps :]
        gates = wide.layers[0].recurrence.gates
        sums = np.asarray(jax.vmap(lambda u: log_determinants(gates.transition(u)))(us))
    np.testing.assert_allclose(layer.exponents.sum(axis=1), sums.mean(axis=0), rtol=1e-10)


def test_convolutions_are_counted_and_not_listed(key):
    cell = tiny_blocks("mingru", key, convolved=True)
    found = rm.lyapunov_spectrum(cell, texts(300))
    assert found.lost == 2 * 2 * 6  # two layers, two inputs, six channels
    assert found.dimension == found.lost + len(found.exponents) == dimension(cell) - WIDTH
    assert found.complete and np.isfinite(found.exponents).all()
    assert found.layers[0].kind == "MinGRU" and found.method.startswith("means")


def test_channels_that_do_not_forget_within_the_text_are_told(key):
    a = jnp.array([0.5, 0.9999])
    (layer,) = rm.lyapunov_spectrum(Diagonal(a, jnp.ones((2, 1))), texts(500, 1)).layers
    np.testing.assert_allclose(layer.timescales, [1 / np.log(2), 9999.5], rtol=1e-3)
    assert layer.unforgotten.tolist() == [False, True]


def test_windows_show_what_a_mean_hides():
    """A gate that closes once in a while: the mean is moderate, most windows keep all."""

    class Resetting(AbstractCell):
        def __call__(self, h, x):
            return jnp.exp(self.log_decays(h, x)) * h

        def log_decays(self, h, x):
            return -jnp.abs(x)

        def initial_state(self):
            return jnp.ones(1)

    xs = np.zeros((6000, 1))
    xs[::600] = 6.0
    found = rm.lyapunov_spectrum(Resetting(), xs, warmup=0)
    (layer,) = found.layers
    np.testing.assert_allclose(found.exponents, -0.01)
    assert layer.high[0] == 0 and layer.low[0] < -0.04
    frames = rm.lyapunov_spectrum(Resetting(), xs, warmup=0, interval=1)
    np.testing.assert_allclose(frames.exponents, -0.01)


def test_errors_hold_for_a_correlated_series(key):
    """Inputs that change slowly: ten runs stray from the truth as the errors say."""
    cell = KINDS["mingru"](key)
    rng = np.random.default_rng(3)

    def slow(steps):
        return lfilter([0.2], [1, -0.98], rng.standard_normal((steps, 5)), axis=0)

    truth = rm.lyapunov_spectrum(cell, slow(100_000)).exponents
    runs = [rm.lyapunov_spectrum(cell, slow(4000)) for _ in range(10)]
    scores = [(run.exponents - truth) / run.stderr for run in runs]
    assert 0.2 < np.sqrt(np.mean(np.square(scores))) < 2


def test_several_texts_of_several_lengths(key):
    cell = tiny_blocks("rg-lru", key)
    xs = np.stack([texts(400), texts(400, seed=1)])
    lengths = np.array([400, 250])
    found = rm.lyapunov_spectrum(cell, xs, lengths=lengths)
    xs[1, 250:] = np.nan
    again = rm.lyapunov_spectrum(cell, np.nan_to_num(xs), lengths=lengths)
    np.testing.assert_array_equal(found.exponents, again.exponents)


def test_the_slstm_takes_frames(key):
    found = rm.lyapunov_spectrum(SLSTM.init(3, 2, key=key), texts(400, 3))
    assert found.method == "frames" and len(found.exponents) == 6


def test_refusals(key):
    cell = tiny_blocks("mingru", key)
    with pytest.raises(ValueError, match="empty"):
        rm.lyapunov_spectrum(cell, texts(0))
    with pytest.raises(ValueError, match="without inputs needs steps"):
        rm.lyapunov_spectrum(cell)
    with pytest.raises(ValueError, match="at least one layer"):
        Blocks(())
    attention = Blocks(griffin(key).layers[2:], None, WIDTH)
    with pytest.raises(ValueError, match="no layer has a recurrence: the memory is 2 inputs"):
        rm.lyapunov_spectrum(attention, texts(50))
    # A rate beyond double precision, and a clock that stands still: their product is no number.
    gates = lambda c: (c.layers[0].recurrence.gates.A_log, c.layers[0].recurrence.gates.b_dt)
    cell = tiny_blocks("mamba", key, layers=1)
    cell = eqx.tree_at(gates, cell, (jnp.full((4, 3), 1e3), jnp.full(4, -2e3)))
    with pytest.raises(ValueError, match="a decay of layer 0 is beyond double precision"):
        rm.lyapunov_spectrum(cell, texts(50))
