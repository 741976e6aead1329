"""What is predicted from T alone, against simulation."""

import jax.random as jr
import numpy as np
import pytest

from remanence.subjects.shared_representations.language_pairs import circulant_pairs, nested_pairs
from remanence.subjects.shared_representations.sign_barriers import (
    barrier_probability,
    largest_scale,
    needed_scale,
    predict_generalisation,
    success_probability,
)
from remanence.subjects.shared_representations.toy_model import toy_flow, toy_start


def test_a_graph_is_described():
    predicted = predict_generalisation(circulant_pairs(10, 2), log10_scale=-10.0, key=jr.key(0))
    assert (predicted.components, predicted.longest_path) == (1, 9)
    assert predicted.gap == pytest.approx(np.cos(np.pi / 10))
    assert 0.55 < predicted.success < 0.75
    assert -30 < predicted.log10_scale < -15


def test_the_predicted_sigma_is_borne_out_by_simulation():
    """Nine in ten succeed there, and clearly fewer from a σ a thousand times larger."""
    T = nested_pairs(8, 0.3, key=jr.key(5), diagonal=False)
    predicted = largest_scale(T, wanted=0.9, key=jr.key(1))
    assert -20 < predicted < -3
    shares = []
    for log10_scale in (predicted, predicted + 3.0):
        start = toy_start(8, log10_scale=log10_scale, draws=48, key=jr.key(2))
        fit = toy_flow(start, T)
        shares.append(float((fit.test_loss < 1e-3).mean()))
    assert shares[0] == pytest.approx(0.9, abs=0.09)
    assert shares[1] < 0.82


def test_bisection_stops_at_the_edge():
    T, key = circulant_pairs(6, 2), jr.key(3)
    log10_scale = largest_scale(T, wanted=0.8, key=key)
    chance = lambda x: success_probability(T, log10_scale=x, key=key)
    assert chance(log10_scale) >= 0.8 > chance(log10_scale + 0.2)


def test_islands_agree_half_the_time_at_best():
    islands = np.kron(np.eye(2), np.ones((2, 2)))
    predicted = predict_generalisation(islands, log10_scale=-6.0, key=jr.key(0))
    assert predicted.components == 2 and predicted.longest_path == np.inf
    assert predicted.log10_scale == -np.inf
    assert np.isfinite(largest_scale(islands, wanted=0.45, key=jr.key(0)))


def test_one_language_needs_no_small_start():
    assert largest_scale(np.ones((1, 1)), key=jr.key(0)) == 0.0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda T: largest_scale(T, wanted=1.0, key=jr.key(0)),
            "wanted must lie between 0 and 1, got 1.0",
        ),
        (
            lambda T: predict_generalisation(T * 0.5, log10_scale=-3.0, key=jr.key(0)),
            "T must hold only zeros and ones",
        ),
        (
            lambda T: barrier_probability(T, log10_scale=np.nan, key=jr.key(0)),
            "log10_scale must be a finite number, got nan",
        ),
        (lambda T: needed_scale(T, 0), "contamination must be positive, got 0"),
        (lambda T: needed_scale(0 * T, 0.01), "language 0 is never taught as an output"),
    ],
)
def test_what_makes_no_sense_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(circulant_pairs(4, 2))
