"""Strings that are read once: fewer units than a walk that returns."""

import numpy as np
import pytest

import remanence as rm


@pytest.mark.parametrize(
    ("text", "units"), [("0001111", 1), ("0101", 1), ("abc", 1), ("0011010", 2)]
)
def test_single_pass_minima(text, units):
    found = rm.minimal_dimension(text, end=True)
    assert found.dimension == units and found.optimal
    assert found.dimension <= rm.minimal_dimension((*text, "end")).dimension


def test_a_single_pass_spells_once():
    for text in ("mississippi", "0011010", "0001111"):
        found = rm.minimal_dimension(text, end=True)
        assert tuple(found.written.emissions(found.word.period)) == found.word.indices


def test_a_reading_is_never_dearer_than_the_walk_that_returns():
    rng = np.random.default_rng(9)
    for n, length in ((2, 12), (2, 16), (3, 12)):
        w = rng.integers(n, size=length).tolist()
        once = rm.minimal_dimension(w, end=True, time_limit=2.0)
        returning = rm.minimal_dimension((*w, "end"))
        assert once.lower <= once.upper <= returning.upper
        assert tuple(once.written.emissions(once.word.period)) == once.word.indices
