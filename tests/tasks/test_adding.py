import jax.random as jr
import numpy as np
import pytest

from remanence import tasks


@pytest.mark.parametrize("length", [2, 7, 50])
def test_two_marks_one_in_each_half(length, key):
    xs, y = tasks.adding(200, length, key=key)
    marks = np.asarray(xs[..., 1])
    half = length // 2
    np.testing.assert_array_equal(marks[:, :half].sum(1), 1)
    np.testing.assert_array_equal(marks[:, half:].sum(1), 1)
    np.testing.assert_allclose((xs[..., 0] * xs[..., 1]).sum(1), y, atol=1e-6)


def test_answering_one_costs_a_sixth(key):
    _, y = tasks.adding(100_000, 4, key=key)
    assert np.mean((np.asarray(y) - 1) ** 2) == pytest.approx(1 / 6, rel=0.02)


def test_too_short_is_refused():
    with pytest.raises(ValueError, match="length must be at least 2, got 1"):
        tasks.adding(3, 1, key=jr.key(0))
