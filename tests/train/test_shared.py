"""A batch shared out over two devices: the same loss, gradient and training."""

import jax
import jax.numpy as jnp
import jax.random as jr
import optax
import pytest

from remanence.train import fit, over_devices


TWO = """
import equinox as eqx, jax, jax.numpy as jnp, jax.random as jr, numpy as np, optax
from remanence.cells import LSTM
from remanence.nets import token_cross_entropy, Recurrent
from remanence.train import fit, over_devices

assert jax.device_count() == 2
with jax.enable_x64(True):
    net = Recurrent.init(LSTM.init(3, 5, key=jr.key(0)), outputs=7, key=jr.key(1), tokens=7)
    net = jax.tree.map(lambda a: a.astype(float) if eqx.is_inexact_array(a) else a, net)
    rows = jr.randint(jr.key(2), (6, 9), 0, 7)
    plain = lambda net, rows, key: token_cross_entropy(net, rows)
    shared = over_devices(plain)
    assert shared.parts == 2
    one = eqx.filter_value_and_grad(plain)(net, rows, None)
    two = eqx.filter_jit(eqx.filter_value_and_grad(shared))(net, rows, None)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    parts = eqx.filter_make_jaxpr(shared)(net, rows, None)[0]
    assert "pmean" in str(parts) or "psum" in str(parts), "nothing was shared out"
    ends = [
        fit(net, loss, optax.adam(1e-2), steps=7, key=jr.key(3), data=rows)
        for loss in (plain, shared)
    ]
    for a, b in zip(*(jax.tree.leaves(end.model) for end in ends), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    try:
        shared(net, rows[:5], None)
    except ValueError as problem:
        assert "2 devices divide evenly, got [5]" in str(problem), problem
    else:
        raise AssertionError("five rows were split in two")
"""


def test_two_devices_share_a_batch(on_two_devices):
    on_two_devices(TWO)


def test_one_device_changes_nothing():
    def loss(w, batch, key):
        return jnp.mean((batch - w) ** 2)

    batch = jnp.arange(6.0)
    ends = [
        fit(jnp.zeros(()), way, optax.sgd(0.1), steps=9, key=jr.key(0), data=batch)
        for way in (loss, over_devices(loss))
    ]
    assert float(ends[0].model) == pytest.approx(float(ends[1].model), abs=1e-6)


@pytest.mark.parametrize("batch", [(), (jnp.ones(()),), (jnp.ones(4), jnp.ones(6))])
def test_a_batch_without_a_common_first_axis_is_refused(batch):
    shared = over_devices(lambda w, batch: w)
    with pytest.raises(ValueError, match="must share a first axis"):
        jax.value_and_grad(shared)(1.0, batch)
