"""Networks whose translations are known."""

import numpy as np
import pytest

from remanence.subjects.shared_representations.gated_linear import GatedLinear, translation
from remanence.subjects.shared_representations.language_pairs import circulant_pairs


L, D = 4, 3
T = circulant_pairs(L, 2)


def test_a_perfect_translator():
    eye = np.stack([np.eye(D)] * L)
    seen = translation(GatedLinear(eye, np.eye(D), eye), T, mask="full")
    assert seen["train_loss"] == seen["test_loss"] == 0.0
    assert seen["accuracy_untrained"] == 1.0
    assert seen["rank"] == pytest.approx(D)
    assert np.isnan(seen["across"])


def test_rank_one_satisfies_the_diagonal_mask_and_translates_nothing():
    u = np.zeros((L, D, D))
    u[:, :, 0] = 1.0
    net = GatedLinear(u, np.eye(D), u.transpose(0, 2, 1))
    low = translation(net, T, mask="diagonal")
    assert low["test_loss"] == 0.0 and low["signs"] == 0.0
    assert low["rank"] == pytest.approx(1.0)
    assert low["accuracy_untrained"] == pytest.approx(1 / D)
    high = translation(net, T, mask="full")
    assert high["test_loss"] == pytest.approx((D * D - D) / (2 * D))


def test_a_wrong_sign_between_components_costs_two():
    islands = np.kron(np.eye(2), np.ones((2, 2)))
    eye = np.stack([np.eye(D)] * L)
    sign = np.array([1.0, 1.0, -1.0, -1.0])[:, None, None]
    net = GatedLinear(sign * eye, np.eye(D), sign * eye)
    seen = translation(net, islands, mask="full")
    assert seen["train_loss"] == 0.0
    assert seen["across"] == pytest.approx(2.0)
    assert seen["signs"] == 1.0
