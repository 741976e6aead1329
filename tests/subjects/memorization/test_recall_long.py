"""300 drawn strings of lengths 17 to 40 by every method (bounds, not minima)."""

import pytest
from recall_cases import recall


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", ["permutation", "shift", "tanh", "rational", "harmonic"])
def test_exact_recall(method, seed):
    how = {"seed": 100 + seed, "count": 100, "lengths": (17, 40), "time_limit": 0.03}
    assert recall(method, **how) == 100
