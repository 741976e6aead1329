"""How often XLA is called: once a program, however many lanes or steps there are."""

import jax.numpy as jnp
import jax.random as jr
import optax
from compiled import compilations

from remanence.sweeps import sweep
from remanence.train import fit


def _lane(point, key, data):
    h = jr.normal(key, (3,))
    return {"end": jnp.tanh(point["gain"] * h).sum()}


def test_more_lanes_need_no_more_programs():
    few = compilations(lambda: sweep(_lane, {"gain": [0.1, 0.2]}, chunk=2))
    gains = [0.1 * n for n in range(1, 12)]  # the last chunk is not full
    many = compilations(lambda: sweep(_lane, {"gain": gains}, chunk=2))
    assert 1 <= many <= few + 1  # one chunk may be cut out of many


def test_a_static_axis_costs_one_program_a_value():
    def lane(point, key, data):
        return {"end": jr.normal(key, (point["units"],)).sum() * point["gain"]}

    axes = lambda units: {"units": units, "gain": [0.1, 0.2, 0.3]}
    one = compilations(lambda: sweep(lane, axes([2]), static=("units",), chunk=2))
    three = compilations(lambda: sweep(lane, axes([2, 3, 4]), static=("units",), chunk=2))
    assert one < three <= one + 2 * 3


def test_more_steps_need_no_more_programs():
    def loss(model, batch, key):
        return jnp.square(model - 1.0).sum()

    def trained(steps):
        fit(jnp.zeros(3), loss, optax.sgd(0.1), steps=steps, key=jr.key(0), every=5)

    assert compilations(lambda: trained(40)) == compilations(lambda: trained(10))
