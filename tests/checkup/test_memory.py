"""Memory follows what is measured: wide inputs act through few combinations, what cannot fit is refused."""

import jax
import jax.random as jr
import numpy as np
import pytest

from remanence._precision import as_double, double
from remanence.cells import Elman, LSTM, Stack
from remanence.checkup import inputs as memory
from remanence.checkup.inputs import in_acting_inputs
from remanence.nets import Recurrent


WIDTH = 1500


@pytest.mark.parametrize("kind", ["elman", "stack", "tokens"])
def test_the_combinations_that_act_give_the_same_outputs_and_gradients(kind):
    first = Elman.init(WIDTH, 3, key=jr.key(0))
    cell = Stack((first, LSTM.init(3, 2, key=jr.key(1)))) if kind == "stack" else first
    tokens = 5 if kind == "tokens" else None
    net = Recurrent.init(cell, outputs=2, tokens=tokens, key=jr.key(2))
    rng = np.random.default_rng(3)
    xs = rng.integers(0, 5, 20) if tokens else rng.normal(size=(20, WIDTH))
    less, values, words = in_acting_inputs(net, xs)
    assert "1,500 inputs act through 3 combinations" in words
    assert jax.tree.leaves(less.cell)[1].shape == (3, 3)
    with double():
        one, two = as_double(net), as_double(less)
        np.testing.assert_allclose(one(xs), two(values), atol=1e-13)
        size = lambda net, xs: np.linalg.norm(
            jax.jacobian(lambda x: net(net.embed(xs).at[0].set(x))[-1])(net.embed(xs)[0])
        )
        assert size(one, xs) == pytest.approx(size(two, values), rel=1e-9)


def test_what_is_narrow_or_unknown_stays_as_it_is():
    net = Recurrent(Elman.init(40, 3, key=jr.key(0)))
    xs = np.ones((20, 40))
    assert in_acting_inputs(net, xs) == (net, xs, "")
    wide = Recurrent(Elman.init(WIDTH, 3, key=jr.key(0)))
    assert in_acting_inputs(wide, xs)[1] is xs  # refused later, by its own sentence


def test_the_estimate_grows_with_what_is_measured(monkeypatch):
    net = Recurrent.init(Elman.init(2, 8, key=jr.key(0)), outputs=3, key=jr.key(1))
    estimate = lambda *shape: memory.estimated_bytes(net, shape) - memory.PROGRAMS
    assert estimate(1, 200_000, 2) > 1.9 * estimate(1, 100_000, 2)
    assert estimate(7, 100_000, 2) > 6 * estimate(1, 100_000, 2)
    # As many bytes as 200,000 inputs hold, and no copy of them.
    wide = Recurrent(Elman.init(200_000, 4, key=jr.key(0)))
    assert memory.estimated_bytes(wide, (1, 1000, 200_000)) < 1.4 * 8e8 * 2
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    memory.refuse_too_large(net, (1, 10_000, 2))
    with pytest.raises(ValueError, match=r"about 7\.9 GB, and 1\.0 GB are free"):
        memory.refuse_too_large(net, (10, 1_200_000, 2))


def test_free_memory_is_known_here():
    free = memory.available_bytes()
    assert free is None or 10**6 < free < 10**15
