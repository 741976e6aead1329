import collections
import itertools

import numpy as np
import pytest
from mpmath import iv, mp

import remanence as rm
from remanence.construct import harmonics
from remanence.construct.energy_bound import energy_floor, two_unit_floor
from remanence.construct.minimal_dimension import harmonic_dimension, representative
from remanence.construct.refutation import refutation
from remanence.construct.separation import separation
from remanence.tasks.words import necklaces, word


COUNTS = {
    6: {2: 3, 3: 2},
    7: {2: 7, 4: 2},
    8: {2: 7, 3: 4, 4: 5},
    9: {2: 10, 4: 18},
}


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
    "text",
    ["00010110111", "0010111", "000100101101", "abcacb", "mississippi", "abcabdacbd"],
)
def test_refutations_cover_and_balance(text):
    found = rm.minimal_dimension(text)
    assert found.optimal and covers(found)
    assert all(balanced(found, r) for r in found.refuted)
    assert min(r.least for r in found.refuted) > 0


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
        unit = int(rng.choice(harmonics.units(p)))
        turned = labels[(unit * np.arange(p) + 3) % p]
        a, b = (word(x.tolist()) for x in (labels, 1 - turned))
        if a.period < p:
            continue
        assert representative(a.pattern)[0] == representative(b.pattern)[0]
        assert harmonic_dimension(a).dimension == harmonic_dimension(b).dimension


def test_rational_sets_are_whole_orbits():
    found = rm.minimal_dimension("0000001", field="rational")
    assert found.dimension == 6 and found.frequencies == (1, 2, 3)
    for text in ("00101101", "000000111", "abcacb", "010011010111"):
        real, rational = (
            rm.minimal_dimension(text, field=f) for f in ("real", "rational")
        )
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


def test_a_false_refutation_is_not_proved():
    labels = word("00010110111").pattern
    good = separation(labels, harmonics.features(11, (1, 2)))
    assert refutation(labels, (1, 2), good.pairs, good.multipliers) is not None
    # The same support over more frequencies, or with a point taken away: no proof.
    assert refutation(labels, (1, 2, 3), good.pairs, good.multipliers) is None
    assert refutation(labels, (1, 2), good.pairs[1:], good.multipliers[1:]) is None


def test_multipliers_of_mixed_sign_prove_nothing():
    # Over a set that spells the word every dependency of its points has both signs.
    labels = word("00010110111").pattern
    for first in range(4):
        pairs = tuple((t, 1 - labels[t]) for t in range(first, first + 8))
        assert refutation(labels, (1, 2, 3), pairs, (1.0,) * 8) is None


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="field must be"):
        rm.minimal_dimension("ab", field="complex")
    with pytest.raises(ValueError, match="at least one symbol"):
        rm.minimal_dimension("")
    with pytest.raises(ValueError, match="time_limit"):
        rm.minimal_dimension("ab", time_limit=-1.0)
    with pytest.raises(ValueError, match="stability"):
        rm.minimal_dimension("ab", stability=-0.5)


@pytest.mark.parametrize(("length", "letters"), [(450, 2), (450, 3), (600, 2)])
def test_long_words_get_a_short_set_a_margin_and_a_floor(length, letters):
    rng = np.random.default_rng(length)
    w = rng.integers(letters, size=length).tolist()
    found = rm.minimal_dimension(w, time_limit=1.0)
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
            # One harmonic is decided by turns round the polygon alone.
            assert (two_unit_floor(labels) <= 2) == (least <= 2)
            assert two_unit_floor(labels) <= least
    rng = np.random.default_rng(7)
    for _ in range(40):
        w = word(rng.integers(3, size=int(rng.integers(5, 10))).tolist())
        floor = max(energy_floor(w.pattern), two_unit_floor(w.pattern))
        assert floor <= harmonic_dimension(w).dimension


def test_the_floor_bites():
    """Random signs spread their energy: the bound grows like a root of the length."""
    rng = np.random.default_rng(8)
    floors = [
        energy_floor(word(rng.integers(2, size=p).tolist()).pattern)
        for p in (50, 500, 5000)
    ]
    assert floors[0] >= 3 and floors[1] >= 7 and floors[2] >= 20
