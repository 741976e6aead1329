"""What a user may ask of exponents, and what is said where there is no plain answer."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from exponent_cases import linear, tanh_net

import remanence as rm
from remanence._precision import double
from remanence.cells import Elman, GRU
from remanence.measure import exponents_along
from remanence.measure.drive import refuse_fractions
from remanence.nets import Recurrent


def test_the_first_exponents_are_those_of_the_whole():
    cell, xs = tanh_net(24, gain=0.9)
    whole = rm.lyapunov_spectrum(cell, xs, warmup=300)
    first = rm.lyapunov_spectrum(cell, xs, warmup=300, k=3)
    assert first.exponents.shape == (3,) and not first.complete
    np.testing.assert_allclose(first.exponents, whole.exponents[:3], atol=1e-7)


def test_several_sequences_and_their_lengths():
    cell, xs = tanh_net(6, gain=0.9, steps=900)
    parts = xs.reshape(3, 300, 2)
    alone = [rm.lyapunov_spectrum(cell, part, warmup=60) for part in parts]
    together = rm.lyapunov_spectrum(cell, parts, warmup=60)
    mean = np.mean([each.exponents for each in alone], axis=0)
    np.testing.assert_allclose(together.exponents, mean, atol=1e-7)
    assert together.sequences == 3 and together.stderr[0] < alone[0].stderr[0]
    padded = parts.copy()
    padded[1, 260:] = 1e3  # 260 and 300 steps share a program
    short = rm.lyapunov_spectrum(cell, padded, warmup=60, lengths=[300, 260, 300])
    lone = rm.lyapunov_spectrum(cell, parts[1, :260], warmup=60)
    weights = np.array([240, 200, 240]) / 680
    rows = [alone[0].exponents, lone.exponents, alone[2].exponents]
    np.testing.assert_allclose(short.exponents, weights @ np.array(rows), atol=1e-7)


def test_a_network_hears_tokens_through_its_embedding(key):
    net = Recurrent.init(GRU.init(4, 5, key=key), outputs=2, tokens=7, key=key)
    tokens = np.arange(200) % 7
    found = rm.lyapunov_spectrum(net, tokens)
    assert net.embedding is not None
    again = rm.lyapunov_spectrum(net.cell, np.asarray(net.embedding)[tokens])
    np.testing.assert_array_equal(found.exponents, again.exponents)
    with pytest.raises(ValueError, match="tokens must lie in 0 to 6, got 0 to 7"):
        rm.lyapunov_spectrum(net, np.arange(8))


def test_the_core_maps_over_networks():
    with double():
        keys = jr.split(jr.key(0), 3)
        cells = jax.vmap(lambda key: Elman.init(2, 6, key=key))(keys)
        xs = jr.normal(jr.key(1), (100, 2))
        lane = lambda cell: exponents_along(cell, jnp.zeros(6), xs, k=2, interval=3)
        found = jax.jit(jax.vmap(lane))(cells)
        one = jax.tree.map(lambda leaf: leaf[1], cells)
        np.testing.assert_allclose(found[1], jax.jit(lane)(one), rtol=1e-9)


def test_dead_directions_are_minus_infinity_with_a_word():
    dead = rm.lyapunov_spectrum(linear(np.zeros((3, 3))), steps=50)
    assert np.isneginf(dead.exponents).all() and "dead" in dead.verdict
    assert not np.isnan(dead.running).any() and dead.kaplan_yorke == 0
    assert (dead.stderr == 0).all() and not np.isnan(dead.confidence()[0]).any()
    relu = Elman(
        jnp.array([[0.5, 0.1], [0.0, 0.9]]), jnp.array([[1.0], [-1.0]]), activation=jax.nn.relu
    )
    half = rm.lyapunov_spectrum(relu, np.ones((60, 1)))
    np.testing.assert_allclose(half.exponents, [np.log(0.5), -np.inf], atol=1e-12)
    assert "1 directions" in half.verdict


@pytest.mark.parametrize("rate", [1e-30, 1e30])
def test_huge_exponents_neither_underflow_nor_overflow(rate):
    found = rm.lyapunov_spectrum(linear(rate * np.eye(2)), steps=100)
    np.testing.assert_allclose(found.exponents, np.log(rate), rtol=1e-12)


def test_a_state_that_leaves_the_floats_is_told():
    grow = Elman(jnp.array([[3.0]]), jnp.ones((1, 1)), activation=jax.nn.softplus)
    found = rm.lyapunov_spectrum(grow, np.ones((2000, 1)), warmup=100)
    assert not found.converged and found.diverged_at and "range of floats" in found.verdict
    np.testing.assert_allclose(found.exponents, np.log(3), atol=1e-6)
    with pytest.raises(ValueError, match="leaves the range of floats"):
        rm.lyapunov_spectrum(grow, np.ones((2000, 1)), warmup=1500)


class Widening(eqx.Module):
    """A cell of somebody's own that is none yet."""

    times: int = 2

    def __call__(self, h, x):
        if not self.times:
            raise ValueError("no input would do")
        return jnp.tile(h, self.times)

    def initial_state(self):
        return jnp.zeros(2)


def test_refusals():
    cell, xs = tanh_net(4)
    broken = eqx.tree_at(lambda c: c.W_h, cell, cell.W_h.at[0, 0].set(jnp.nan))
    cases = [
        (broken, xs, {}, "the weights W_h hold NaN or infinite numbers"),
        (cell, xs[:, :1], {}, "the cell takes 2 numbers a step, the inputs have 1"),
        (cell, xs, {"warmup": 600}, "600 steps of warm-up, 600 steps of sequence"),
        (cell, xs, {"warmup": -1}, "warm-up"),
        (cell, xs, {"k": 5}, "k must lie between 1 and 4, got 5"),
        (cell, xs, {"interval": 0}, "interval must be at least 1, got 0"),
        (cell, None, {}, "a map without inputs needs steps"),
        (cell, xs, {"steps": 3}, "give inputs or steps, not both"),
        (cell, xs[0], {}, "time x width"),
        (cell, np.full((9, 2), np.inf), {}, "the inputs hold NaN"),
        (cell, xs[:0], {}, "empty"),
        (cell, xs * 1j, {}, "the inputs must be real numbers, got complex"),
        (cell, "abc", {}, "the inputs must be real numbers, got <U3"),
        (cell, [[1.0, 2.0], [1.0]], {}, "the inputs must be one array, got rows"),
        (None, xs, {}, "a cell has .* which NoneType has not"),
        (Widening(), xs, {}, "a step must keep the state's shape"),
        (Widening(times=0), xs, {}, "takes no step on an input of 2 numbers: no input"),
        (cell, xs, {"lengths": [3]}, "lengths go with a batch"),
        (cell, xs[None], {"lengths": [700]}, "lengths must lie in 1 to 600"),
        (cell, xs, {"h0": jnp.full(4, jnp.nan)}, "initial state"),
    ]
    for subject, inputs, options, sentence in cases:
        with pytest.raises(ValueError, match=sentence):
            rm.lyapunov_spectrum(subject, inputs, **options)


def test_counts_are_whole_numbers():
    """Asked of the guard itself: in tests, types are checked before it."""
    refuse_fractions(k=3, warmup=np.int64(2), steps=None)
    for value in (2.5, "10", True):
        with pytest.raises(ValueError, match=f"k must be a whole number, got {value!r}"):
            refuse_fractions(warmup=1, k=value)
