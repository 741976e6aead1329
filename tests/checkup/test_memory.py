"""Memory follows what is measured, and what cannot fit is refused."""

import jax.random as jr
import pytest

from remanence.cells import Elman
from remanence.checkup import memory
from remanence.nets import Recurrent


def test_the_estimate_grows_with_what_is_measured(monkeypatch):
    net = Recurrent.init(Elman.init(2, 8, key=jr.key(0)), outputs=3, key=jr.key(1))
    estimate = lambda *shape: memory.estimated_bytes(net, shape) - memory.PROGRAMS
    assert estimate(1, 200_000, 2) > 1.9 * estimate(1, 100_000, 2)
    assert estimate(7, 100_000, 2) > 6 * estimate(1, 100_000, 2)
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    memory.refuse_too_large(net, (1, 10_000, 2))
    with pytest.raises(ValueError, match=r"about 7\.9 GB, and 1\.0 GB are free"):
        memory.refuse_too_large(net, (10, 1_200_000, 2))


def test_free_memory_is_known_here():
    free = memory.available_bytes()
    assert free is None or 10**6 < free < 10**15
