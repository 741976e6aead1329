from fractions import Fraction

import numpy as np
import pytest

import remanence as rm
from remanence.subjects.memorization.words import necklaces


def ordered(text, a):
    """Whether h' = a h + x with this a separates the two symbols, in rationals."""
    w = [int(x) for x in text]
    p = len(w)
    h = [
        sum((a ** (i - 1) * w[(t - i) % p] for i in range(1, p + 1)), Fraction(0)) for t in range(p)
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


def test_long_words_and_more_symbols_leave_the_shift_map():
    rng = np.random.default_rng(10)
    for letters, length in ((2, 260), (4, 10_000), (26, 40)):
        w = rng.integers(letters, size=length).tolist()
        found = rm.minimal_dimension(w, stability=letters + 1.0, time_limit=1.0)
        assert found.least == (0.0, len(set(w))) and found.a == len(set(w))
        assert found.dimension == 1 and not found.exact


def test_only_a_word_of_single_symbols_does_with_a_equal_to_zero():
    found = rm.minimal_dimension("abcd", stability=0.0)
    assert found.attained and found.dimension == 1
    found = rm.minimal_dimension("0001", stability=0.0)
    assert found.least == (0.0, 0.0) and not found.attained and found.lower == 2


def test_the_words_that_contract_are_the_balanced_ones():
    for p in (5, 7, 8, 9):
        for w in necklaces(p):
            low, high = rm.minimal_dimension(w, stability=2.0).least
            counts = [{sum((w * 2)[i : i + m]) for i in range(p)} for m in range(1, p)]
            balanced = all(max(c) - min(c) <= 1 for c in counts)
            assert (high == 0.0) == balanced and (low >= 1.0) == (not balanced)
