"""What any way down owes a run on pairs: generalisation where they connect, refusals."""

import jax
import numpy as np
import pytest
from pair_runs import drawn

from remanence.subjects.shared_representations.gated_linear import GatedLinear, translation
from remanence.subjects.shared_representations.language_pairs import (
    circulant_pairs,
    connectivity,
    path_bound,
)
from remanence.subjects.shared_representations.pair_training import PairRun, train_pairs
from remanence.subjects.shared_representations.sgd_and_flow import gradient_flow, momentum_sgd


def test_connected_pairs_generalise_within_the_path_bound(key):
    """H = D: the bound along paths holds on trained networks."""
    T = circulant_pairs(4, 2)
    net = GatedLinear.init(languages=4, words=3, units=3, scale=0.05, key=key)
    (_, fit), *_ = gradient_flow([PairRun(net, T)], mask="full", stop=1e-8, width=2)
    blocks = fit.net.products()
    gap = np.linalg.norm(blocks - np.eye(3), ord=2, axis=(2, 3))
    bound = path_bound(connectivity(T), float(gap[T == 1].max()))
    assert (gap <= bound + 1e-5).all()
    assert translation(fit.net, T, mask="full")["accuracy_untrained"] == 1.0


def test_islands_do_not_generalise(key):
    """Across components the loss is a half on average over random starts."""
    T = np.kron(np.eye(2), np.ones((2, 2)))
    runs = [
        PairRun(GatedLinear.init(languages=4, words=3, units=3, scale=0.1, key=k), T)
        for k in jax.random.split(key, 24)
    ]
    losses = [
        translation(fit.net, T, mask="full")["across"]
        for _, fit in gradient_flow(runs, mask="full", stop=1e-6, width=2)
    ]
    assert np.mean(losses) + 2 * np.std(losses) / len(losses) ** 0.5 > 0.5
    assert min(losses) > 1e-2


def test_narrow_hidden_layer_is_refused_with_its_reason(key):
    run = drawn(key, words=3, units=2)
    for train in (gradient_flow, momentum_sgd):
        with pytest.raises(ValueError, match=r"H = 2 < D = 3 is infeasible.*rank"):
            next(train([run], mask="full", stop=1e-6))


def test_languages_must_agree(key):
    with pytest.raises(ValueError, match="T is for 3 languages, the network has 4"):
        PairRun(drawn(key).net, np.ones((3, 3)))


WAYS = (gradient_flow, momentum_sgd)


def test_a_matrix_of_pairs_may_be_a_list(key):
    run = PairRun(drawn(key).net, [[1, 0, 0, 1], *np.eye(4)[1:].tolist()])
    assert run.T.dtype == float and run.T.sum() == 5


@pytest.mark.parametrize("train", WAYS)
def test_runs_of_two_sizes_are_refused(train, key):
    both = [drawn(key), drawn(key, words=2, units=2)]
    with pytest.raises(ValueError, match=r"one size, got .*\(4, 3, 3\) and \(4, 2, 2\)"):
        next(train(both, mask="full", stop=1e-6))


@pytest.mark.parametrize("scale", [1e-30, 1e-60])
def test_the_flow_leaves_the_smallest_starts(scale, key):
    """The time grows as 1/σ, the steps as its logarithm."""
    runs = [drawn(key, 1.0, 2, 1, 1, scale=s) for s in (1e-2, scale)]
    (_, near), (_, far) = sorted(gradient_flow(runs, mask="full", stop=1e-6, width=2))
    assert near.ending == far.ending == "converged"
    assert far.time * scale == pytest.approx(near.time * 1e-2, rel=0.5)
    assert far.steps < -20 * np.log10(scale) + 3 * near.steps


def test_lanes_give_their_place_away(key):
    lengths, advanced = [3, 1, 4, 1, 5, 9, 2], []
    runs = [drawn(key, scale=float(length)) for length in lengths]

    def advance(batch):
        advanced.append(len(batch.loss))
        left = batch.memory - 1
        return batch._replace(memory=left, loss=left, steps=batch.steps + 1)

    ends = train_pairs(
        runs,
        mask="full",
        stop=1e-6,
        limit=100,
        width=2,
        precision="float32",
        memory=lambda run, weights: lengths[runs.index(run)],
        advance=advance,
    )
    assert {index: fit.steps for index, fit in ends}.keys() == set(range(7))
    assert len(advanced) == 14  # two at a time, and nobody waits for a neighbour
