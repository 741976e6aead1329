from fractions import Fraction

import pytest

import remanence as rm
from remanence.tasks.words import necklaces


def ordered(text, a):
    """Whether h' = a h + x with this a separates the two symbols, in rationals."""
    w = [int(x) for x in text]
    p = len(w)
    h = [
        sum((a ** (i - 1) * w[(t - i) % p] for i in range(1, p + 1)), Fraction(0))
        for t in range(p)
    ]
    ones = [h[t] for t in range(p) if w[t]]
    zeros = [h[t] for t in range(p) if not w[t]]
    return min(ones) > max(zeros) or max(ones) < min(zeros)


@pytest.mark.parametrize("text", ["0000001", "0010101", "0001"])
def test_contracting_memories_of_one_unit(text):
    found = rm.minimal_dimension(text, stability=0.9)
    assert found.dimension == 1 and found.optimal and found.least[1] < 0.9


def test_binary_words_of_period_seven_need_at_most_1_47():
    found = [rm.minimal_dimension(w, stability=2.0) for w in necklaces(7)]
    assert max(f.least[1] for f in found) == pytest.approx(1.46557, abs=1e-5)
    assert all(f.dimension == 1 for f in found)


@pytest.mark.parametrize("text", ["000111", "0001101", "00011", "0010011"])
def test_least_factor_is_tight(text):
    found = rm.minimal_dimension(text, stability=2.0)
    low, high = found.least
    assert low <= high <= low + 1e-9
    # Admissible just above on one side; nowhere on a grid below.
    above = Fraction(high * 1.0001)
    assert ordered(text, above) or ordered(text, -above)
    below = [Fraction(k, 400) for k in range(-400, 401)]
    assert not any(ordered(text, a * Fraction(low * 0.9999)) for a in below)
    assert ordered(text, found.a)


def test_at_the_infimum_itself_one_unit_fails():
    found = rm.minimal_dimension("0011", stability=1.0)
    assert found.least == (1.0, 1.0) and found.lower == 2 == found.dimension


def test_golden_ratio():
    found = rm.minimal_dimension("000111", stability=1.0)
    assert found.least[0] == pytest.approx((1 + 5**0.5) / 2, abs=1e-9)


def test_three_symbols_are_enclosed():
    found = rm.minimal_dimension("abcb", stability=1.0)
    assert found.dimension == 1
    found = rm.minimal_dimension("abcacb", stability=0.5, time_limit=2.0)
    assert found.least[0] <= found.least[1] and 2 <= found.dimension <= 6


@pytest.mark.parametrize(
    ("text", "units"), [("0001111", 1), ("0101", 1), ("abc", 1), ("0011010", 2)]
)
def test_single_pass_minima(text, units):
    found = rm.minimal_dimension(text, end=True)
    assert found.dimension == units and found.optimal
    assert found.dimension <= rm.minimal_dimension((*text, "end")).dimension


def test_single_pass_readout_spells_once():
    import numpy as np

    from remanence.construct.single_pass import walk

    for text in ("mississippi", "0011010", "0001111"):
        found = rm.minimal_dimension(text, end=True)
        labels = found.word.pattern
        y = found.readout @ walk(found.eigenvalues, len(labels))
        assert tuple(np.argmax(y, axis=0)) == labels
