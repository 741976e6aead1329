"""What any way down owes a run on pairs: generalisation where they connect, refusals."""

import jax
import numpy as np
import pytest
from pair_runs import drawn

from remanence.measure.alignment import translation
from remanence.measure.connectivity import connectivity, path_bound
from remanence.nets.gated_linear import GatedLinear
from remanence.tasks.language_pairs import circulant_pairs
from remanence.train.descent import safe_descent
from remanence.train.gradient_flow import gradient_flow
from remanence.train.momentum import momentum_sgd
from remanence.train.pairs import PairRun


def test_connected_pairs_generalise_within_the_path_bound(key):
    """H = D: the bound along paths holds on trained networks."""
    T = circulant_pairs(4, 2)
    net = GatedLinear.init(languages=4, words=3, units=3, scale=0.05, key=key)
    (_, fit), *_ = gradient_flow([PairRun(net, T)], mask="full", stop=1e-8, width=1)
    blocks = fit.net.products()
    gap = np.linalg.norm(blocks - np.eye(3), ord=2, axis=(2, 3))
    bound = path_bound(connectivity(T), float(gap[T == 1].max()))
    assert (gap <= bound + 1e-5).all()
    assert translation(fit.net, T, mask="full").accuracy_untrained == 1.0


def test_islands_do_not_generalise(key):
    """Across components the loss is a half on average over random starts."""
    T = np.kron(np.eye(2), np.ones((2, 2)))
    runs = [
        PairRun(GatedLinear.init(languages=4, words=3, units=3, scale=0.1, key=k), T)
        for k in jax.random.split(key, 24)
    ]
    losses = [
        translation(fit.net, T, mask="full").loss_across
        for _, fit in safe_descent(runs, mask="full", stop=1e-6, every=20, width=8)
    ]
    assert np.mean(losses) + 2 * np.std(losses) / len(losses) ** 0.5 > 0.5
    assert min(losses) > 1e-2


def test_narrow_hidden_layer_is_refused_with_its_reason(key):
    run = drawn(key, words=3, units=2)
    for train in (gradient_flow, safe_descent, momentum_sgd):
        with pytest.raises(ValueError, match=r"H = 2 < D = 3 is infeasible.*rank"):
            next(train([run], mask="full", stop=1e-6))


def test_languages_must_agree(key):
    with pytest.raises(ValueError, match="T speaks of 3 languages, the network of 4"):
        PairRun(drawn(key).net, np.ones((3, 3)))
