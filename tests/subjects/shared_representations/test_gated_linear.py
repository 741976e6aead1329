"""The network against its own formula."""

import jax.numpy as jnp
import jax.random as jr
import jaxtyping
import numpy as np
import pytest

from remanence.subjects.shared_representations.gated_linear import GatedLinear, relabelled


@pytest.fixture
def net():
    return GatedLinear.init(languages=3, words=4, units=5, scale=0.5, key=jr.key(0))


def test_a_call_is_a_block(net):
    blocks = np.asarray(net.products())
    for word in range(4):
        x = jnp.eye(4)[word]
        y = net(x, source=1, target=2)
        np.testing.assert_allclose(y, blocks[2, 1, :, word], rtol=1e-5, atol=1e-6)


def test_relabelling_renames_words_and_undoes_itself(net):
    words = np.array([[1, 2, 3, 0], [0, 1, 2, 3], [2, 3, 1, 0]])
    other = relabelled(net, words)
    before, after = np.asarray(net.products()), np.asarray(other.products())
    for i in range(4):
        for j in range(4):
            assert after[0, 2, words[0][i], words[2][j]] == pytest.approx(
                before[0, 2, i, j], rel=1e-5
            )
    back = relabelled(other, np.argsort(words, axis=1))
    np.testing.assert_array_equal(back.W_o, net.W_o)
    np.testing.assert_array_equal(back.W_i, net.W_i)


def test_the_published_draw_is_only_rescaled():
    small = GatedLinear.published(seed=3, scale=1e-3, languages=2, words=3, units=3)
    large = GatedLinear.published(seed=3, scale=1.0, languages=2, words=3, units=3)
    np.testing.assert_allclose(small.W_h, 1e-3 * large.W_h, rtol=1e-6)
    assert small.W_o.dtype == jnp.float32


def test_shapes_that_do_not_fit_are_refused():
    # Under test the annotations speak first.
    with pytest.raises((ValueError, jaxtyping.TypeCheckError), match="W_i"):
        GatedLinear(jnp.zeros((2, 3, 4)), jnp.zeros((4, 4)), jnp.zeros((2, 3, 4)))


SIZES = {"languages": 2, "words": 3, "units": 3}


@pytest.mark.parametrize(
    ("scale", "sentence"),
    [
        (0.0, "sigma must lie between 1e-150 and 1e[+]12, .*, got 0"),
        (-1e-3, "sigma must lie between"),
        (float("nan"), "sigma must lie between"),
        (float("inf"), "sigma must lie between"),
        (1e39, "got 1e[+]39; the toy in log scale goes further"),
        (1e-300, "got 1e-300"),
    ],
)
def test_sizes_that_cannot_learn_are_refused(scale, sentence):
    with pytest.raises(ValueError, match=sentence):
        GatedLinear.init(scale=scale, key=jr.key(0), **SIZES)
    with pytest.raises(ValueError, match=sentence):
        GatedLinear.published(scale=scale, seed=0, **SIZES)


def test_weights_that_float32_cannot_hold_are_doubles():
    tiny = GatedLinear.published(seed=3, scale=1e-50, **SIZES)
    small = GatedLinear.published(seed=3, scale=1e-3, **SIZES)
    assert tiny.W_o.dtype == np.float64 and small.W_o.dtype == np.float32
    np.testing.assert_allclose(tiny.W_i * 1e47, small.W_i, rtol=1e-6)
