import itertools
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


def spelled(found):
    """Whether the record's a and weights put every symbol's states in one interval of
    their own, in rationals and from the definition."""
    labels, p = found.word.pattern, found.word.period
    h = [
        sum(found.a ** (i - 1) * found.weights[labels[(t - i) % p]] for i in range(1, p + 1))
        for t in range(p)
    ]
    ends = [
        (
            min(h[t] for t in range(p) if labels[t] == k),
            max(h[t] for t in range(p) if labels[t] == k),
        )
        for k in found.order
    ]
    above = all(x[1] < y[0] for x, y in itertools.pairwise(ends))
    return above or all(x[0] > y[1] for x, y in itertools.pairwise(ends))


GOLDEN = (1 + 5**0.5) / 2


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("abcb", 0.0),
        ("abcacb", 1.0),
        ("aabbcc", 1.0),
        ("mississippi", 1.0),
        ("abracadabra", 0.0),
        ("abcabdacbd", 0.0),
        ("0101211020", GOLDEN),
        ("010122102221", 1.4655712318767680),
    ],
)
def test_several_symbols_exactly(text, least):
    found = rm.minimal_dimension(text, stability=3.0)
    assert found.exact and found.optimal and found.dimension == 1
    assert found.least[0] <= least <= found.least[1] <= found.least[0] + 1e-15
    assert spelled(found) and abs(abs(found.a) - least) < 1e-14
    assert abs(np.polyval(found.polynomial[::-1], least)) < 1e-12
    # Below the infimum, and at it, one unit does not do.
    if least:
        assert rm.minimal_dimension(text, stability=least * 0.999).lower == 2


def test_no_order_is_met_below_the_least():
    """Plain linear programs over every order and a grid of a, by another solver."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(5)
    for n, p in ((3, 7), (4, 8)):
        labels = [*range(n), *rng.integers(n, size=p - n).tolist()]
        found = rm.minimal_dimension(labels, stability=4.0)
        assert found.exact and spelled(found)
        labels, p = found.word.pattern, found.word.period
        for a in np.linspace(-1, 1, 17) * found.least[0] * 0.995:
            past = np.zeros((p, n))
            for t, i in itertools.product(range(p), range(1, p + 1)):
                past[t, labels[(t - i) % p]] += a ** (i - 1)
            for order in itertools.permutations(range(n)):
                if order[0] > order[-1]:
                    continue
                rows = [
                    past[s] - past[t]
                    for low, high in itertools.pairwise(order)
                    for s in range(p)
                    for t in range(p)
                    if (labels[s], labels[t]) == (high, low)
                ]
                solved = linprog(
                    [0.0] * n + [-1.0],
                    A_ub=[[*-row, 1.0] for row in rows],
                    b_ub=np.zeros(len(rows)),
                    bounds=[(-1, 1)] * n + [(None, 1)],
                )
                assert -solved.fun < 1e-7


def test_many_symbols_and_no_time_leave_proved_bounds():
    rng = np.random.default_rng(6)
    w = rng.integers(8, size=40).tolist()
    found = rm.minimal_dimension(w, stability=0.5, time_limit=0.5)
    assert not found.exact and spelled(found)
    assert 0 <= found.least[0] < found.least[1] <= 8
    better = rm.minimal_dimension("to be or not to", stability=2.0, time_limit=200.0)
    assert better.exact and spelled(better)


def test_only_a_word_of_single_symbols_does_with_a_equal_to_zero():
    found = rm.minimal_dimension("abcd", stability=0.0)
    assert found.attained and found.dimension == 1 and spelled(found)
    found = rm.minimal_dimension("0001", stability=0.0)
    assert found.least == (0.0, 0.0) and not found.attained and found.lower == 2


@pytest.mark.parametrize(
    ("text", "units"), [("0001111", 1), ("0101", 1), ("abc", 1), ("0011010", 2)]
)
def test_single_pass_minima(text, units):
    found = rm.minimal_dimension(text, end=True)
    assert found.dimension == units and found.optimal
    assert found.dimension <= rm.minimal_dimension((*text, "end")).dimension


def test_single_pass_readout_spells_once():
    from remanence.subjects.memorization.minimal.single_pass import walk

    for text in ("mississippi", "0011010", "0001111"):
        found = rm.minimal_dimension(text, end=True)
        labels = found.word.pattern
        y = found.readout @ walk(found.eigenvalues, len(labels))
        assert tuple(np.argmax(y, axis=0)) == labels


def test_a_reading_is_never_dearer_than_the_walk_that_returns():
    rng = np.random.default_rng(9)
    for n, length in ((2, 12), (2, 16), (3, 12)):
        w = rng.integers(n, size=length).tolist()
        once = rm.minimal_dimension(w, end=True, time_limit=2.0)
        returning = rm.minimal_dimension((*w, "end"))
        assert once.lower <= once.upper <= returning.upper
        from remanence.subjects.memorization.minimal.single_pass import walk

        labels = once.word.pattern
        y = once.readout @ walk(once.eigenvalues, len(labels))
        assert tuple(np.argmax(y, axis=0)) == labels


def test_ten_thousand_symbols_get_the_shift_map():
    rng = np.random.default_rng(10)
    found = rm.minimal_dimension(rng.integers(4, size=10_000).tolist(), stability=5.0)
    assert found.least == (0.0, 4.0) and found.dimension == 1 and not found.exact


def test_hundreds_of_symbols_are_bounded():
    rng = np.random.default_rng(11)
    w = rng.integers(2, size=260).tolist()
    found = rm.minimal_dimension(w, stability=2.5, time_limit=4.0)
    assert found.dimension == 1 and spelled(found)
    assert found.least[0] <= found.least[1] <= 2


def test_the_words_that_contract_are_the_balanced_ones():
    for p in (5, 7, 8, 9):
        for w in necklaces(p):
            low, high = rm.minimal_dimension(w, stability=2.0).least
            counts = [{sum((w * 2)[i : i + m]) for i in range(p)} for m in range(1, p)]
            balanced = all(max(c) - min(c) <= 1 for c in counts)
            assert (high == 0.0) == balanced and (low >= 1.0) == (not balanced)
