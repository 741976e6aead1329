"""Refutations: they cover every cheaper set, balance, and prove nothing false."""

import itertools

import pytest
from mpmath import iv, mp

import remanence as rm
from remanence.subjects.memorization import harmonics
from remanence.subjects.memorization.minimal.refutation import refutation
from remanence.subjects.memorization.minimal.separation import separation
from remanence.subjects.memorization.words import word


def covers(found):
    """Every cheaper set, and each of the same cost that comes first, is refuted."""
    large = [set(r.frequencies) for r in found.refuted]
    p = found.word.period
    cheaper = [S for d in range(found.dimension) for S in harmonics.by_cost(p, d)]
    level = harmonics.by_cost(p, found.dimension)
    earlier = list(itertools.takewhile(lambda S: found.frequencies != S, level))
    return all(any(set(S) <= big for big in large) for S in cheaper + earlier)


def balanced(found, r):
    """An independent check: in mpmath's intervals the equations hold with the given
    multipliers up to their rounding, and every multiplier is positive."""
    labels, p = found.word.pattern, found.word.period
    worst = 0.0
    for j in (0, *r.frequencies):
        for block in range(max(labels) + 1):
            for wave in (iv.cos, iv.sin):
                total = iv.mpf(0)
                for (t, k), m in zip(r.pairs, r.multipliers, strict=True):
                    sign = (labels[t] == block) - (k == block)
                    total += sign * m * wave(2 * iv.pi * j * t / p)
                worst = max(worst, float(abs(mp.mpf(total.mid))))
    right = all(labels[t] != k for t, k in r.pairs)
    return right and worst < 1e-12 * max(r.multipliers) and r.least > 0


@pytest.mark.parametrize(
    "text", ["00010110111", "0010111", "000100101101", "abcacb", "mississippi", "abcabdacbd"]
)
def test_refutations_cover_and_balance(text):
    found = rm.minimal_dimension(text)
    assert found.optimal and covers(found)
    assert all(balanced(found, r) for r in found.refuted)
    assert min(r.least for r in found.refuted) > 0


def test_a_false_refutation_is_not_proved():
    labels = word("00010110111").pattern
    good = separation(labels, harmonics.features(11, (1, 2)))
    assert refutation(labels, (1, 2), good.pairs) is not None
    # The same support over more frequencies, or with a point taken away: no proof.
    assert refutation(labels, (1, 2, 3), good.pairs) is None
    assert refutation(labels, (1, 2), good.pairs[1:]) is None


def test_multipliers_of_mixed_sign_prove_nothing():
    # Over a set that spells the word every dependency of its points has both signs.
    labels = word("00010110111").pattern
    for first in range(4):
        pairs = tuple((t, 1 - labels[t]) for t in range(first, first + 8))
        assert refutation(labels, (1, 2, 3), pairs) is None
