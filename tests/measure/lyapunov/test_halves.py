"""A spectrum in two halves against QR after every step, and where halves cannot tell."""

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence._precision import double
from remanence.cells import Elman, LSTM, Stack
from remanence.measure import lyapunov_spectrum
from remanence.measure.lyapunov import halves


def lstms(key):
    below, above = jr.split(key)
    return Stack((LSTM.init(2, 16, key=below), LSTM.init(16, 16, key=above)))


KINDS = {
    "elman": lambda key: Elman.init(2, 65, key=key),
    "lstm": lambda key: LSTM.init(2, 32, key=key),
    "stack": lstms,
}


@pytest.fixture
def split(monkeypatch):
    """Whether the last spectrum came from halves."""
    found = []
    by_halves = halves._by_halves

    def watched(*arguments, **options):
        found.append(by_halves(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(halves, "_by_halves", watched)
    return found


def noise(steps, *more):
    return np.random.default_rng(0).normal(size=(*more, steps, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_the_halves_are_the_whole_frame(kind, split):
    cell, told = KINDS[kind](jr.key(0)), []
    said = lambda step, last: told.append(step)
    halved = lyapunov_spectrum(cell, noise(200), progress=said)
    assert split[0] is not None and told[-1] == 200
    every = lyapunov_spectrum(cell, noise(200), interval=1)
    assert len(split) == 1
    np.testing.assert_allclose(halved.exponents, every.exponents, atol=2e-7)
    np.testing.assert_allclose(halved.stderr, every.stderr, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(halved.running, every.running, atol=1e-6)
    assert halved.converged == every.converged and halved.verdict == every.verdict


def test_halves_of_padded_sequences(split):
    cell, lengths = KINDS["lstm"](jr.key(1)), np.array([80, 50])
    halved = lyapunov_spectrum(cell, noise(80, 2), lengths=lengths)
    assert split[0] is not None
    every = lyapunov_spectrum(cell, noise(80, 2), lengths=lengths, interval=1)
    np.testing.assert_allclose(halved.exponents, every.exponents, atol=2e-7)


def singular():
    """A network whose weights have a rank of 40 but for rounding."""
    with double():
        left, right = jr.normal(jr.key(0), (2, 64, 40), jnp.float64)
        return Elman(0.02 * left @ right.T, jnp.ones((64, 2)), jnp.zeros(64))


def saturated():
    """Units of slope 1e-70 or so, which no inverse of a product can hold."""
    cell = KINDS["elman"](jr.key(0))
    return Elman(cell.W_h, cell.W_x, cell.b.at[:9].set(80.0))


@pytest.mark.parametrize("drawn", [singular, saturated])
def test_where_an_inverse_hides_something_the_whole_frame_tells(drawn, split):
    cell = drawn()
    found = lyapunov_spectrum(cell, noise(100))
    every = lyapunov_spectrum(cell, noise(100), interval=1)
    same = ~every.below
    np.testing.assert_array_equal(found.below, every.below)
    np.testing.assert_allclose(found.exponents[same], every.exponents[same], atol=2e-7)
    assert split[0] is None or drawn is saturated
