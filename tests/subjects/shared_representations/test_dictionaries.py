"""Any dictionaries train as the identity does."""

import jax
import numpy as np
import pytest
from pair_runs import by_optax, drawn

from remanence.subjects.shared_representations.gated_linear import relabelled
from remanence.subjects.shared_representations.gradient_flow import gradient_flow
from remanence.subjects.shared_representations.language_pairs import word_permutations
from remanence.subjects.shared_representations.momentum_sgd import momentum_sgd
from remanence.subjects.shared_representations.pair_training import PairRun
from remanence.subjects.shared_representations.safe_descent import safe_descent


@pytest.mark.parametrize("mask", ["full", "diagonal"])
@pytest.mark.parametrize("train", [momentum_sgd, safe_descent, gradient_flow])
def test_any_dictionaries_train_as_the_identity_does(train, mask, key):
    """Same loss, same steps, and the same network but for the names of its words."""
    plain = drawn(key, words=4, units=4, scale=0.3)
    words = word_permutations(4, 4, key=jax.random.key(8))
    spoken = PairRun(relabelled(plain.net, words), plain.T, words)
    options = {"mask": mask, "stop": 1e-4, "every": 20, "width": 1}
    (_, one), *_ = train([plain], **options)
    (_, other), *_ = train([spoken], **options)
    assert other.loss == one.loss and other.steps == one.steps
    renamed = relabelled(one.net, words)
    np.testing.assert_array_equal(renamed.W_o, np.asarray(other.net.W_o, np.float32))
    np.testing.assert_array_equal(renamed.W_i, np.asarray(other.net.W_i, np.float32))


@pytest.mark.parametrize("mask", ["full", "diagonal"])
def test_dictionaries_are_those_of_the_written_loss(mask, key):
    """SGD with Π_k against optax on the loss with its permutation matrices."""
    words = word_permutations(3, 4, key=jax.random.key(9))
    start = drawn(key, languages=3, words=4, units=4, scale=0.3)
    run = PairRun(start.net, start.T, words)
    (_, fit), *_ = momentum_sgd(
        [run], mask=mask, stop=1e-30, every=10, limit=30, width=1, precision="float64"
    )
    theirs = by_optax(run, mask, steps=30)
    for a, b in zip(jax.tree.leaves(fit.net), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_dictionaries_must_be_permutations(key):
    run = drawn(key)
    with pytest.raises(ValueError, match="words must hold 4 permutations of 3 words"):
        PairRun(run.net, run.T, np.zeros((4, 3), dtype=int))
