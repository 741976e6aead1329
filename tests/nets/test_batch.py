import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence import cells, nets
from remanence._precision import as_double, double


def network(kind, activation, inputs, readout, key):
    key_c, key_R, key_y = jr.split(key, 3)
    if kind == "elman":
        cell = cells.Elman.init(inputs, 6, key=key_c, activation=activation)
    else:
        R = {
            "scalar": 0.9,
            "array": jnp.asarray(0.9),
            "matrix": 0.3 * jr.normal(key_R, (6, 6)),
            "nonlinear": lambda h: jnp.tanh(0.9 * h),
        }[kind]
        cell = cells.Residual.init(
            inputs, 6, key=key_c, residual=R, coupling=0.4, activation=activation
        )
    return nets.Recurrent.init(cell, outputs=3, key=key_y, readout=readout)


def quick(net, xs):
    return nets.on_batch(net, xs)


def plain(net, xs):
    return jax.vmap(net)(xs)


@pytest.mark.parametrize(
    ("kind", "activation", "inputs", "readout"),
    [
        ("elman", jax.nn.leaky_relu, 2, "every"),
        ("scalar", jnp.tanh, 1, "every"),
        ("array", jnp.tanh, 2, "last"),
        ("nonlinear", jnp.tanh, 1, "last"),
        ("elman", jnp.tanh, 9, "every"),
        ("matrix", jnp.tanh, 9, "last"),
    ],
)
def test_values_and_gradients_are_those_of_plain_autodiff(kind, activation, inputs, readout, key):
    with double():
        net = as_double(network(kind, activation, inputs, readout, key))
        xs = jr.normal(key, (5, 7, inputs), jnp.float64)

        def loss(parts, way):
            net, xs = parts
            return jnp.sin(way(net, xs)).sum()

        slow, quickly = (
            eqx.filter_jit(eqx.filter_value_and_grad(loss))((net, xs), way)
            for way in (plain, quick)
        )
        for ours, theirs in zip(jax.tree.leaves(quickly), jax.tree.leaves(slow), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("inputs", [1, 9])
def test_it_is_batched_over_networks_with_a_frozen_residual(inputs, key):
    """As in a sweep: lanes of weights, the residual outside of what is trained."""
    draw = lambda key: network("matrix", jnp.tanh, inputs, "last", key)
    nets_ = jax.vmap(draw)(jr.split(key, 4))
    xs = jr.normal(key, (5, 7, inputs))
    frozen = jax.tree.map(eqx.is_inexact_array, nets_)
    frozen = eqx.tree_at(lambda net: net.cell.R, frozen, False)
    trained, rest = eqx.partition(nets_, frozen)

    def gradient(way):
        loss = lambda net, rest: jnp.sin(way(eqx.combine(net, rest), xs)).sum()
        return jax.jit(jax.vmap(jax.grad(loss)))(trained, rest)

    ours, theirs = gradient(quick), gradient(plain)
    for mine, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(mine, other, atol=2e-5)
