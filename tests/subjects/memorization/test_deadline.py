"""Limits in time, on a clock that counts work: every solver is charged, every look too."""

import random
import string

import numpy as np
import pytest
from flint import arb_mat, ctx

import remanence as rm
from remanence.subjects.memorization import harmonics
from remanence.subjects.memorization.minimal import (
    cheapest_harmonics,
    refutation as refutations,
    separation,
)
from remanence.subjects.memorization.minimal.refutation import refutation
from remanence.subjects.memorization.words import word


class Clock:
    """Stands still but for what is charged; solvers take twice what is thought."""

    def __init__(self):
        self.now, self.solvers = 0.0, 0

    def __call__(self):
        self.now += 1e-4
        return self.now

    def charge(self, seconds):
        self.solvers += 1
        self.now += 2 * seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    nnls, linprog = separation.nnls, separation.linprog

    def least_squares(B, goal, **how):
        clock.charge(separation.PACE * B.shape[1] * B.shape[0] ** 2)
        return nnls(B, goal, **how)

    def program(c, A_ub, options, **how):
        needed = separation.PROGRAM * A_ub.shape[0] * A_ub.nnz / A_ub.shape[0]
        assert options["time_limit"] > 0
        clock.charge(min(needed, options["time_limit"] / 2))
        return linprog(c, A_ub=A_ub, options=options | {"time_limit": 1e6}, **how)

    def balls(rows):
        k = len(rows)
        clock.charge(refutations.PACE * k**3 * ctx.prec if len(rows[0]) > 1 else 0)
        return arb_mat(rows)

    monkeypatch.setattr(separation, "clock", clock)
    monkeypatch.setattr(separation, "nnls", least_squares)
    monkeypatch.setattr(separation, "linprog", program)
    monkeypatch.setattr(refutations, "arb_mat", balls)
    return clock


def drawn(letters, length, seed=0):
    draw = random.Random(seed)
    return [draw.choice(string.ascii_letters[:letters]) for _ in range(length)]


LIMIT = 2.0


@pytest.mark.parametrize(
    "asked",
    [{}, {"field": "rational"}, {"end": True}, {"stability": 1.5}],
    ids=["real", "rational", "end", "stability"],
)
def test_a_limit_of_two_seconds_is_one(clock, asked):
    word = drawn(26, 200 if not asked else 60)
    found = rm.minimal_dimension(word, time_limit=LIMIT, **asked)
    assert clock.now < 1.25 * LIMIT
    assert found.lower < found.upper < len(word) + 1 and not found.optimal
    if not asked:
        assert found.lead > 0 and clock.solvers > 0
    assert clock.now < 1.5 * LIMIT  # with the readout


def test_memorizing_keeps_the_limit_over_all_its_constructions(clock):
    word = drawn(26, 50)
    memory = rm.memorize(word, time_limit=LIMIT)
    assert clock.now < 1.5 * LIMIT
    assert memory.generate(100) == tuple(word) * 2


def test_without_time_nothing_is_solved(clock):
    word = drawn(26, 200)
    found = rm.minimal_dimension(word, time_limit=0.0)
    assert clock.solvers == 0 and not found.optimal and found.lead > 0


@pytest.mark.parametrize("seed", range(4))
def test_the_program_and_least_squares_agree_and_both_are_proved(seed, monkeypatch):
    draw = np.random.default_rng(seed)
    labels = (0, 1, 2, *draw.integers(3, size=12).tolist())
    for S in ((1,), (2, 5), (1, 2, 3), (1, 2, 3, 4, 5)):
        phi = harmonics.features(15, S)
        first = separation.separation(labels, phi)
        with monkeypatch.context() as patch:
            patch.setattr(separation, "SLOW", 0.0)
            second = separation.separation(labels, phi)
        assert (first.u is None) == (second.u is None)
        if second.u is None:
            assert refutation(labels, S, second.pairs) is not None
        else:
            assert separation.proved_lead(second.u, labels, phi) > 0


def test_a_solve_that_may_be_late_is_not_begun(clock):
    labels = word("00010110111").pattern
    good = separation.separation(labels, harmonics.features(11, (1, 2)))
    assert refutation(labels, (1, 2), good.pairs) is not None
    assert refutation(labels, (1, 2), good.pairs, separation.Deadline(1e-9)) is None


@pytest.mark.parametrize("field", ["real", "rational"])
def test_what_is_not_proved_is_not_claimed(field, monkeypatch):
    monkeypatch.setattr(cheapest_harmonics, "refutation", lambda *given: None)
    found = rm.minimal_dimension(drawn(3, 21), field=field)
    assert found.lower == found.floor < found.upper and not found.optimal
