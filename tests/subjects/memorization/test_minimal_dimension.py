"""The least dimension of short words: known counts, and agreement with plain search."""

import collections
import math

import numpy as np
import pytest

import remanence as rm
from remanence.subjects.memorization import harmonics
from remanence.subjects.memorization.minimal.cheapest_harmonics import harmonic_dimension
from remanence.subjects.memorization.minimal.separation import separation
from remanence.subjects.memorization.words import necklaces, word


COUNTS = {6: {2: 3, 3: 2}, 7: {2: 7, 4: 2}, 8: {2: 7, 3: 4, 4: 5}, 9: {2: 10, 4: 18}}


@pytest.mark.parametrize("period", COUNTS)
def test_known_counts_of_necklaces(period):
    found = [rm.minimal_dimension(w) for w in necklaces(period)]
    assert all(f.optimal for f in found)
    assert collections.Counter(f.dimension for f in found) == COUNTS[period]


def test_the_example_of_the_surface():
    found = rm.minimal_dimension("00010110111")
    assert (found.dimension, found.frequencies, found.optimal) == (6, (1, 2, 3), True)


def test_no_word_of_period_twelve_needs_more_than_six():
    assert max(rm.minimal_dimension(w).dimension for w in necklaces(12)) == 6


def test_period_one_has_dimension_zero_and_a_network_of_one_unit():
    found = rm.minimal_dimension("aaaa")
    assert (found.dimension, found.lower, found.frequencies) == (0, 0, ())
    assert rm.memorize("aaaa", method="harmonic").dimension == 1


def test_plain_enumeration_agrees():
    from scipy.optimize import linprog

    def feasible(labels, S):
        phi = harmonics.features(len(labels), S)
        n = max(labels) + 1
        rows = []
        for t, w in enumerate(labels):
            for k in range(n):
                if k != w:
                    row = np.zeros((n, len(phi)))
                    row[w], row[k] = -phi[:, t], phi[:, t]
                    rows.append([*row.ravel(), 1.0])
        size = n * len(phi)
        solved = linprog(
            [0.0] * size + [-1.0],
            A_ub=rows,
            b_ub=np.zeros(len(rows)),
            bounds=[(-1, 1)] * size + [(None, 1)],
        )
        return -solved.fun > 1e-9

    rng = np.random.default_rng(0)
    for _ in range(25):
        n, p = int(rng.integers(2, 5)), int(rng.integers(3, 11))
        w = word(rng.integers(n, size=p).tolist())
        plain = next(
            S
            for d in range(w.period)
            for S in harmonics.by_cost(w.period, d)
            if w.period == 1 or feasible(w.pattern, S)
        )
        found = harmonic_dimension(w)
        assert found.optimal and found.frequencies == plain


def test_orbits_share_their_answer():
    rng = np.random.default_rng(1)
    for _ in range(30):
        p = int(rng.integers(5, 14))
        labels = rng.integers(2, size=p)
        unit = int(rng.choice([a for a in range(1, p) if math.gcd(a, p) == 1]))
        turned = labels[(unit * np.arange(p) + 3) % p]
        a, b = (word(x.tolist()) for x in (labels, 1 - turned))
        if a.period < p:
            continue
        assert harmonic_dimension(a).dimension == harmonic_dimension(b).dimension


def test_rational_sets_are_whole_orbits():
    found = rm.minimal_dimension("0000001", field="rational")
    assert found.dimension == 6 and found.frequencies == (1, 2, 3)
    for text in ("00101101", "000000111", "abcacb", "010011010111"):
        real, rational = (rm.minimal_dimension(text, field=f) for f in ("real", "rational"))
        assert rational.optimal and rational.dimension >= real.dimension
        members = set(rational.frequencies)
        for _, orbit in harmonics.orbits(rational.word.period):
            assert set(orbit) <= members or not set(orbit) & members


def test_no_drawn_matrix_beats_the_optimum():
    """The theorem, spot-checked: growing, fading or turning by any angle."""
    rng = np.random.default_rng(2)
    for text, least in (("0010111", 4), ("00010110111", 6), ("abcacb", 3)):
        labels = word(text).pattern
        assert rm.minimal_dimension(text).dimension == least
        for _ in range(15):
            W = rng.normal(size=(least - 1, least - 1))
            W *= rng.choice([0.97, 1.0, 1.03]) / max(abs(np.linalg.eigvals(W)))
            h, orbit = rng.normal(size=least - 1), []
            for _ in range(40 * len(labels)):
                h = W @ h
                orbit.append(h)
            phi = np.vstack([np.ones(len(orbit)), np.array(orbit).T])
            assert separation(labels * 40, phi).u is None


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="field must be"):
        rm.minimal_dimension("ab", field="complex")
    with pytest.raises(ValueError, match="at least one symbol"):
        rm.minimal_dimension("")
    with pytest.raises(ValueError, match="time_limit"):
        rm.minimal_dimension("ab", time_limit=-1.0)
    with pytest.raises(ValueError, match="stability"):
        rm.minimal_dimension("ab", stability=-0.5)


@pytest.mark.parametrize(
    ("letters", "field", "dimension"),
    [("00102123203", "real", 4), ("000101202021", "real", 4), ("000000110010001101", "rational", 12)],
)  # fmt: skip
def test_sets_on_which_least_squares_is_undecided_are_decided_at_a_vertex(
    letters, field, dimension
):
    found = rm.minimal_dimension(letters, field=field)
    assert found.optimal and found.dimension == dimension
