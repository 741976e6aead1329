"""Momentum: what optax makes of the written loss, in a precision that keeps its steps."""

import jax
import numpy as np
import pytest
from pair_runs import by_optax, drawn

from remanence.subjects.shared_representations.gated_linear import GatedLinear
from remanence.subjects.shared_representations.language_pairs import published_pairs
from remanence.subjects.shared_representations.momentum_sgd import momentum_sgd, smallest_precision
from remanence.subjects.shared_representations.pair_training import exact_loss, PairRun
from remanence.subjects.shared_representations.worker_trainings import trained_by_workers


@pytest.mark.parametrize("mask", ["full", "diagonal"])
def test_momentum_is_optax_on_the_written_loss(mask, key):
    run = drawn(key, languages=3, words=4, units=4, scale=0.3)
    (_, fit), *_ = momentum_sgd(
        [run], mask=mask, stop=1e-30, every=10, limit=40, width=2, precision="float64"
    )
    theirs = by_optax(run, mask, steps=40)
    for a, b in zip(jax.tree.leaves(fit.net), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert fit.steps == 40 and fit.ending == "out of steps"


def test_batch_neighbours_do_not_change_a_lane(key):
    runs = [drawn(k, scale=0.3) for k in jax.random.split(key, 3)]
    together = dict(momentum_sgd(runs, mask="diagonal", stop=1e-7, every=50, width=2))
    for i, run in enumerate(runs):
        (_, alone), *_ = momentum_sgd([run], mask="diagonal", stop=1e-7, every=50, width=2)
        np.testing.assert_array_equal(alone.net.W_o, together[i].net.W_o)
        assert alone.steps == together[i].steps


def test_tiny_scale_switches_to_double(key):
    tiny = drawn(key, scale=1e-8)
    assert smallest_precision(tiny, mask="diagonal") == "float64"
    (_, fit), *_ = momentum_sgd([tiny], mask="diagonal", stop=1e-6, every=2, limit=4)
    assert fit.precision == "float64"
    assert np.any(fit.net.W_o != np.asarray(tiny.net.W_o, float))
    (_, fit), *_ = momentum_sgd(
        [drawn(key, scale=1e-2)], mask="diagonal", stop=1e-6, every=2, limit=4
    )
    assert fit.precision == "float32"
    with pytest.raises(ValueError, match="rounds every step away even in float64"):
        next(momentum_sgd([drawn(key, scale=1e-25)], mask="diagonal", stop=1e-6))


def test_a_burst_is_an_outcome(key):
    (_, fit), *_ = momentum_sgd(
        [drawn(key, scale=3.0)], mask="full", stop=1e-6, rate=1.0, every=50, limit=100
    )
    assert fit.ending == "diverged" and np.isnan(fit.loss)


@pytest.mark.slow
def test_processes_find_what_one_does(key):
    """Whoever takes a run, its bits are those of a run alone."""
    runs = [drawn(k, scale=0.3) for k in jax.random.split(key, 3)]
    options = {"mask": "diagonal", "stop": 1e-5, "every": 100, "limit": 2_000}
    shared = dict(trained_by_workers(momentum_sgd, runs, workers=2, **options))
    assert set(shared) == {0, 1, 2}
    for i, run in enumerate(runs):
        (_, alone), *_ = momentum_sgd([run], width=1, **options)
        np.testing.assert_array_equal(alone.net.W_o, shared[i].net.W_o)
        assert alone.steps == shared[i].steps


@pytest.mark.slow
def test_the_documents_cell():
    T = published_pairs(0.401, seed=0)
    run = PairRun(GatedLinear.published(seed=0, scale=1e-2), T)
    (_, fit), *_ = momentum_sgd([run], mask="diagonal", stop=1e-6 / 64, width=1)
    assert 64 * exact_loss(fit.net, 1 - T, "diagonal") == pytest.approx(2.03814e-4, rel=1e-2)
