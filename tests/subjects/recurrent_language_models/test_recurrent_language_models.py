"""Small language models: trained by the one loop, and measured by the study."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

from remanence.nets import token_cross_entropy, unroll
from remanence.nets.language_model import gated_language_model, GATES
from remanence.report import Bench
from remanence.subjects.recurrent_language_models.study import Config, train_and_measure
from remanence.train import fit


def periodic(key, count=4):
    """Words of five letters, over and over, each begun somewhere."""
    starts = jr.randint(key, (count, 1), 0, 5)
    return (starts + jnp.arange(21)) % 5


@pytest.mark.parametrize("kind", GATES)
def test_the_scan_has_the_gradient_of_the_steps(kind, key):
    net = gated_language_model(kind, tokens=5, width=4, layers=1, key=key)
    tokens = periodic(key)[0]

    def stepped(net):
        states = unroll(net.cell, net.cell.initial_state(), net.embed(tokens[:-1]))
        logs = jax.nn.log_softmax(jax.vmap(net.read)(states))
        return -jnp.mean(jnp.take_along_axis(logs, tokens[1:, None], 1))

    both = (stepped, lambda net: token_cross_entropy(net, tokens[None]))
    slow, quick = (eqx.filter_jit(eqx.filter_grad(loss))(net) for loss in both)
    for one, two in zip(*map(jax.tree.leaves, (slow, quick)), strict=True):
        np.testing.assert_allclose(one, two, atol=2e-5)


def test_the_one_loop_trains_them(key):
    net = gated_language_model("mamba", tokens=5, width=8, layers=1, key=key)
    done = fit(
        net,
        lambda model, tokens, key: token_cross_entropy(model, tokens),
        optax.adam(1e-2),
        steps=60,
        key=key,
        batch=lambda data, step, key: periodic(key),
        every=30,
    )
    losses = done.history.loss.values
    assert losses[-1] < 0.5 * losses[0] and done.diverged_at is None


def test_unknown_kinds_are_refused(key):
    with pytest.raises(ValueError, match="kind must be one of mamba, rg-lru, mingru"):
        gated_language_model("s4", tokens=5, width=4, layers=1, key=key)


@pytest.mark.parametrize("kind", ["mingru", "lstm"])
def test_what_is_measured_of_a_model(kind, tmp_path):
    small = Config(width=4, layers=2, length=16, batch=2, steps=4, held_out=96, starts=4)
    found = train_and_measure(small, "sonnets", kind, 0, Bench(folder=tmp_path))
    assert found["divergence"].shape == (4, 48) and not found["diverged"]
    assert ("after" in found) == (kind == "mingru")
    # Emptied before the first token there is nothing to forget but that token.
    assert (found["windows"] >= 1).all() and found["loss"] > 0
