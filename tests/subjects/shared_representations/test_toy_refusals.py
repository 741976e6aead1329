"""The toy says in one sentence what it cannot follow."""

from typing import Any

import jax.random as jr
import numpy as np
import pytest

from remanence.subjects.shared_representations.language_pairs import circulant_pairs
from remanence.subjects.shared_representations.toy_model import toy_flow, toy_start


def start(**asked: Any):
    usual: dict[str, Any] = {"n": 4, "draws": 2, "log10_scale": -3.0}
    return toy_start(**(usual | asked), key=jr.key(0))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"log10_scale": np.nan}, "log10_scale a finite number, got nan"),
        ({"log10_scale": np.inf}, "log10_scale a finite number, got inf"),
        ({"log10_scale": -np.inf}, "sigma must be positive and finite"),
        ({"log10_scale": np.array([-1.0, np.nan])}, "got nan"),
        ({"log10_scale": np.zeros(3)}, r"one for each of 2 draws, got shape \(3,\)"),
        ({"draws": 0}, "n and draws must be at least 1, got 4 and 0"),
        ({"factors": 4}, "factors must be 2 or 3, got 4"),
    ],
)
def test_a_start_that_makes_no_sense_is_refused(asked, sentence):
    with pytest.raises(ValueError, match=sentence):
        start(**asked)


EMPTY_ROW = np.eye(4) * np.array([[0], [1], [1], [1]])


@pytest.mark.parametrize(
    ("n", "T", "sentence"),
    [
        (4, EMPTY_ROW, "row 0 of T is empty"),
        (4, np.stack([np.eye(4), EMPTY_ROW]), "row 0 of T is empty"),
        (4, 0.5 * np.ones((4, 4)), "T must hold only zeros and ones"),
        (4, np.ones((3, 4, 4)), r"each of 2 draws, got shape \(3, 4, 4\)"),
        (5, np.eye(4), r"T must be 5 x 5, .* got shape \(4, 4\)"),
    ],
)
def test_a_flow_that_makes_no_sense_is_refused(n, T, sentence):
    with pytest.raises(ValueError, match=sentence):
        toy_flow(start(n=n), T)


def test_a_sigma_a_draw_is_each_draw_alone():
    T, scales = circulant_pairs(6, 5), np.array([-2.0, -9.0])
    for factors in (2, 3):
        both = toy_flow(start(n=6, log10_scale=scales, factors=factors), T)
        for draw, scale in enumerate(scales.tolist()):
            alone = toy_flow(start(n=6, log10_scale=scale, factors=factors), T)
            np.testing.assert_allclose(both.time[draw], alone.time[draw], rtol=1e-9)
