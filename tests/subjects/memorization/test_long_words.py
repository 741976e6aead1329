"""Words too long for a proof of the minimum: a short set, a margin, and a floor."""

import numpy as np
import pytest

import remanence as rm
from remanence.subjects.memorization.minimal.cheapest_harmonics import (
    energy_floor,
    harmonic_dimension,
)
from remanence.subjects.memorization.words import necklaces, word


def test_time_limit_leaves_honest_bounds():
    rng = np.random.default_rng(3)
    w = rng.integers(2, size=37).tolist()
    found = rm.minimal_dimension(w, time_limit=0.05)
    assert found.lower <= found.upper <= 36
    better = rm.minimal_dimension(w, time_limit=2.0)
    assert better.lower <= better.upper <= found.upper
    assert rm.memorize(w, time_limit=0.05).generate(111) == tuple(w) * 3


def test_hundreds_of_symbols_get_a_bound():
    rng = np.random.default_rng(4)
    w = rng.integers(2, size=300).tolist()
    found = rm.minimal_dimension(w, time_limit=1.0)
    assert 1 <= found.lower <= found.upper < 300
    memory = rm.memorize(w, method="harmonic", time_limit=1.0)
    assert memory.generate(900) == tuple(w) * 3


@pytest.mark.parametrize(("length", "letters"), [(450, 2), (420, 3)])
def test_long_words_get_a_short_set_a_margin_and_a_floor(length, letters):
    rng = np.random.default_rng(length)
    w = rng.integers(letters, size=length).tolist()
    found = rm.minimal_dimension(w, time_limit=6.0)
    assert 3 <= found.lower == found.floor < found.upper < 0.75 * length
    # The margin by definition, from features that owe nothing to the table.
    t = 2 * np.pi * np.outer(found.frequencies, np.arange(length)) / length
    waves = np.stack([np.cos(t), np.sin(t)], axis=1).reshape(-1, length)
    if 2 * found.frequencies[-1] == length:
        waves = waves[:-1]
    u, y = found.readout, found.readout @ np.vstack([np.ones(length), waves])
    labels = np.asarray(found.word.pattern)
    for k in range(letters):
        right = labels != k
        lead = (y[labels, np.arange(length)] - y[k])[right]
        apart = np.linalg.norm(u[labels[right], 1:] - u[k, 1:], axis=1)
        assert 0 < found.margin <= (lead / apart).min() * (1 + 1e-6)
        assert found.lead <= lead.min() * (1 + 1e-6)


def test_long_words_that_need_two_units_are_known_to():
    found = rm.minimal_dimension([0] * 300 + [1] * 201)
    assert (found.lower, found.upper, found.optimal) == (2, 2, True)
    found = rm.minimal_dimension([0] * 300 + [1] * 100 + [2] * 100)
    assert (found.lower, found.upper, found.frequencies) == (2, 2, (1,))


def test_the_floor_is_below_every_known_minimum():
    for period in (7, 8, 9, 11):
        for letters in necklaces(period):
            labels = word(letters).pattern
            least = harmonic_dimension(word(letters)).dimension
            assert energy_floor(labels) <= least
    rng = np.random.default_rng(7)
    for _ in range(40):
        w = word(rng.integers(3, size=int(rng.integers(5, 10))).tolist())
        assert energy_floor(w.pattern) <= harmonic_dimension(w).dimension


def test_the_floor_bites():
    """Random signs spread their energy: the bound grows like a root of the length."""
    rng = np.random.default_rng(8)
    floors = [energy_floor(word(rng.integers(2, size=p).tolist()).pattern) for p in (50, 500, 5000)]
    assert floors[0] >= 3 and floors[1] >= 7 and floors[2] >= 20
