"""Drawn strings are recalled exactly for three periods: 10,000 by every method, most of them `slow`."""

import pytest

import remanence as rm
from remanence.subjects.memorization.words import draw_strings


DRAWS = [(0, 200), *(pytest.param(seed, 1000, marks=pytest.mark.slow) for seed in range(10))]


def recalled(method, *, seed, count, lengths, time_limit=10.0):
    """How many of the drawn strings a method serves; every one served must be right."""
    served = 0
    for text in draw_strings(count, lengths=lengths, letters=(1, 8), seed=seed):
        try:
            memory = rm.memorize(text, method=method, time_limit=time_limit)
        except ValueError:
            assert method == "rotation"
            continue
        assert memory.generate(3 * len(text)) == text * 3, (method, text)
        served += 1
    return served


@pytest.mark.parametrize(("seed", "count"), DRAWS)
@pytest.mark.parametrize("method", ["permutation", "shift", "tanh", "rational", "harmonic"])
def test_lengths_1_to_16_over_up_to_8_letters(method, seed, count):
    assert recalled(method, seed=seed, count=count, lengths=(1, 16)) == count


@pytest.mark.parametrize(("seed", "count"), DRAWS)
def test_rotation_where_it_serves(seed, count):
    assert 0.2 * count < recalled("rotation", seed=seed, count=count, lengths=(1, 16)) < count


@pytest.mark.parametrize("method", ["permutation", "shift", "tanh", "rational", "harmonic"])
def test_lengths_17_to_40_by_bounds_and_not_minima(method):
    assert recalled(method, seed=100, count=50, lengths=(17, 40), time_limit=0.03) == 50
