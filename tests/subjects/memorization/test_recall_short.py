"""10,000 drawn strings of lengths 1 to 16, alphabets 1 to 8, by every method."""

import pytest
from recall_cases import recall


PARTS, EACH = 10, 1000


@pytest.mark.parametrize("seed", range(PARTS))
@pytest.mark.parametrize("method", ["permutation", "shift", "tanh", "rational"])
def test_exact_recall(method, seed):
    assert recall(method, seed=seed, count=EACH, lengths=(1, 16)) == EACH


@pytest.mark.parametrize("seed", range(PARTS))
def test_exact_recall_by_rotation_where_it_serves(seed):
    assert 200 < recall("rotation", seed=seed, count=EACH, lengths=(1, 16)) < EACH
