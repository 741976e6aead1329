"""Which pairs are taught."""

import numpy as np
import pytest

from remanence.subjects.shared_representations.language_pairs import (
    checked_pairs,
    circulant_pairs,
    nested_pairs,
    pair_count,
    published_pairs,
)


def test_published_pairs_are_nested_with_their_diagonal():
    before = published_pairs(0.201, seed=1)
    for fraction in (0.251, 0.301, 0.451):
        T = published_pairs(fraction, seed=1)
        assert (np.diag(T) == 1).all()
        assert T.sum() == int(100 * fraction)
        assert (before <= T).all()
        before = T


@pytest.mark.parametrize("diagonal", [True, False])
def test_nested_pairs_teach_every_language(diagonal, key):
    small = nested_pairs(8, 0.2, key=key, diagonal=diagonal)
    large = nested_pairs(8, 0.5, key=key, diagonal=diagonal)
    assert (large >= small).all() and large.sum() == 32
    assert (np.diag(small) == 1).all() == diagonal
    checked_pairs(small)


def test_circulant_has_equal_rows_and_columns():
    T = circulant_pairs(7, 3)
    assert (T.sum(0) == 3).all() and (T.sum(1) == 3).all()
    np.testing.assert_array_equal(np.roll(np.roll(T, 1, 0), 1, 1), T)


@pytest.mark.parametrize(
    ("T", "sentence"),
    [
        (np.array([[1.0, 1.0], [0.0, 0.0]]), "row 1 of T is empty"),
        (np.array([[1.0, 0.0], [1.0, 0.0]]), "column 1 of T is empty"),
        (np.array([[2.0, 0.0], [0.0, 1.0]]), "zeros and ones"),
        (np.ones((2, 3)), "square"),
    ],
)
def test_pairs_refused(T, sentence):
    with pytest.raises(ValueError, match=sentence):
        checked_pairs(T)


def test_one_pair_a_language_is_enough_however_it_rounds():
    """49 · 49 · (1/49) lies below 49 as a float."""
    assert [pair_count(L, 1 / L) for L in range(2, 200)] == list(range(2, 200))
    with pytest.raises(ValueError, match="at least L/L²"):
        pair_count(49, 0.9999 / 49)


def test_elsewhere_a_fraction_is_cut_as_the_document_cuts_it():
    grid = [round(0.201 + 0.01 * i, 3) for i in range(26)]
    assert [pair_count(10, f) for f in grid] == list(range(20, 46))
    assert pair_count(10, 0.29) == 28


def test_fraction_refused():
    with pytest.raises(ValueError, match=r"at least L/L² = 0.1 .* got 0.09"):
        pair_count(10, 0.09)
    with pytest.raises(ValueError, match=r"must not exceed 1, got 1\.5"):
        published_pairs(1.5, seed=0)
