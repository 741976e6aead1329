"""The structured pass gives what the network itself gives on each sequence."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence._precision import as_double, double
from remanence.cells import Elman, GRU, LSTM, Residual
from remanence.nets import Recurrent
from remanence.subjects.modular_addition.all_pairs import (
    pair_logits,
    pairs_of,
    table_logits,
    table_states,
)
from remanence.subjects.modular_addition.task import Modular


def drawn(kind, modulus=5, units=6, inputs=4, seed=0):
    key_cell, key_net = jr.split(jr.key(seed))
    cell = kind.init(inputs, units, key=key_cell)
    return Recurrent.init(cell, outputs=modulus, tokens=modulus + 1, readout="last", key=key_net)


@pytest.mark.parametrize("kind", [Elman, LSTM, GRU, Residual])
def test_tables_agree_with_the_network_on_every_sequence(kind):
    with double():
        net = as_double(drawn(kind))
        pairs = pairs_of(np.ones((5, 5), bool), Modular(5).answers)
        tokens = jnp.stack([pairs.a, pairs.b, jnp.full_like(pairs.a, 5)], 1)

        @eqx.filter_jit
        def three_ways(net):
            table = table_logits(net, table_states(net, 5).third)
            return jax.vmap(net)(tokens), table.reshape(25, 5), pair_logits(net, pairs, 5)

        alone, table, chosen = three_ways(net)
        np.testing.assert_allclose(table, alone, atol=1e-12)
        np.testing.assert_allclose(chosen, alone, atol=1e-12)


def test_the_gradient_by_tables_is_the_plain_one():
    task = Modular(7)
    with double():
        net = as_double(drawn(Elman, 7))
        pairs = pairs_of(task.training_pairs(0.6, key=jr.key(1)), task.answers)
        tokens = jnp.stack([pairs.a, pairs.b, jnp.full_like(pairs.a, 7)], 1)
        loss = lambda logits: jax.nn.logsumexp(logits, axis=-1).sum()
        jitted_grad = lambda f: eqx.filter_jit(eqx.filter_grad(f))(net)
        ours = jitted_grad(lambda n: loss(pair_logits(n, pairs, 7)))
        plain = jitted_grad(lambda n: loss(jax.vmap(n)(tokens)))
        for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(plain), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-10)


@pytest.mark.parametrize("kind", [Elman, LSTM])
def test_a_changed_state_changes_every_later_one(kind):
    net, later_states = drawn(kind), eqx.filter_jit(table_states)
    states = later_states(net, 5)
    moved = jax.tree.map(lambda leaf: leaf + 0.1, states.second)
    later = later_states(net, 5, first=states.first, second=moved)
    gap = lambda one, other: max(
        float(jnp.abs(a - b).max())
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    )
    assert gap(later.third, states.third) > 1e-3
    assert gap(later.first, states.first) == 0.0
    moved = jax.tree.map(lambda leaf: leaf + 0.1, states.first)
    later = later_states(net, 5, first=moved)
    assert gap(later.second, states.second) > 1e-3
    assert gap(later.third, states.third) > 1e-4


def test_a_wrong_vocabulary_is_refused_with_both_sizes():
    with pytest.raises(ValueError, match="modulus 7 needs 8 tokens and 7 outputs, got 6 and 5"):
        table_states(drawn(Elman, 5), 7)
    net = Recurrent(Elman.init(3, 3, key=jr.key(0)))
    with pytest.raises(ValueError, match="needs an embedding and a readout"):
        table_states(net, 7)
