"""Momentum: what optax makes of the written loss, in a precision that keeps its steps."""

import jax
import numpy as np
import pytest
from pair_runs import by_optax, drawn

from remanence.subjects.shared_representations.gated_linear import GatedLinear
from remanence.subjects.shared_representations.language_pairs import published_pairs
from remanence.subjects.shared_representations.pair_training import exact_loss, PairRun
from remanence.subjects.shared_representations.sgd_and_flow import momentum_sgd
from remanence.subjects.shared_representations.training_cells import Cell, train_cells


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


def test_steps_that_would_be_rounded_away_are_refused(key):
    tiny = drawn(key, scale=1e-8)
    with pytest.raises(ValueError, match="rounded away in float32; follow the flow"):
        next(momentum_sgd([tiny], mask="diagonal", stop=1e-6))
    (_, fit), *_ = momentum_sgd(
        [tiny], mask="diagonal", stop=1e-6, every=2, limit=4, precision="float64"
    )
    assert fit.net.W_o.dtype == np.float64
    assert np.any(fit.net.W_o != np.asarray(tiny.net.W_o, float))


def test_a_burst_is_an_outcome(key):
    (_, fit), *_ = momentum_sgd(
        [drawn(key, scale=30.0)], mask="full", stop=1e-6, every=50, limit=100
    )
    assert fit.ending == "diverged" and np.isnan(fit.loss)


@pytest.mark.slow
def test_processes_find_what_one_does():
    """Whoever takes a run, its bits are those of a run alone."""
    small: dict = {"languages": 4, "words": 3, "units": 3, "mask": "diagonal", "way": "sgd"}
    cells = [Cell(fraction=0.5, scale=0.3, seed=seed, **small) for seed in range(3)]
    shared = dict(train_cells(cells, stop=1e-5, limit=2_000, width=1))
    assert set(shared) == {0, 1, 2}
    for i, cell in enumerate(cells):
        options = {"mask": "diagonal", "stop": 1e-5, "limit": 2_000, "width": 1}
        (_, alone), *_ = momentum_sgd([cell.run()], **options)
        np.testing.assert_array_equal(alone.net.W_o, shared[i].net.W_o)
        assert alone.steps == shared[i].steps


@pytest.mark.slow
def test_the_documents_cell():
    T = published_pairs(0.401, seed=0)
    run = PairRun(GatedLinear.published(seed=0, scale=1e-2), T)
    (_, fit), *_ = momentum_sgd([run], mask="diagonal", stop=1e-6 / 64, width=1)
    assert 64 * exact_loss(fit.net, 1 - T, "diagonal") == pytest.approx(2.03814e-4, rel=1e-2)
