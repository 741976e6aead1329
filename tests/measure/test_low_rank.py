import numpy as np
import pytest

from remanence.measure.fourier import frequency_plane
from remanence.measure.low_rank import smallest_rank, vector_frequencies


def test_the_smallest_rank_is_found_with_the_energy_it_holds():
    W = np.diag([4.0, 2.0, 1.0, 0.5])
    right = lambda cut: float(np.linalg.norm(W - cut, 2) < 1.0)
    found = smallest_rank(W, right)
    assert found.rank == 3
    assert found.accuracies.tolist() == [0.0, 0.0, 1.0, 1.0]
    assert found.energy == pytest.approx((16 + 4 + 1) / (16 + 4 + 1 + 0.25))


def test_no_rank_is_none():
    found = smallest_rank(np.eye(3), lambda cut: 0.5, up_to=2)
    assert (found.rank, found.energy) == (None, None)
    assert len(found.accuracies) == 2


def test_singular_vectors_of_planted_waves_come_in_pairs_of_one_frequency():
    random = np.random.default_rng(0)
    mix = np.linalg.qr(random.normal(size=(9, 6)))[0]
    planes = [s * frequency_plane(17, k).T for s, k in ((3, 2), (2, 7), (1, 5))]
    W = np.concatenate(planes, 1) @ mix.T
    u = np.linalg.svd(W, full_matrices=False)[0][:, :6]
    frequencies, shares = vector_frequencies(u)
    assert frequencies.tolist() == [2, 2, 7, 7, 5, 5]
    np.testing.assert_allclose(shares, 1.0)
