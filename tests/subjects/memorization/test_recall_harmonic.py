"""The same 10,000 strings by harmonics, each with its minimal dimension proved."""

import pytest
from recall_cases import recall


@pytest.mark.parametrize("seed", range(10))
def test_exact_recall(seed):
    assert recall("harmonic", seed=seed, count=1000, lengths=(1, 16)) == 1000
