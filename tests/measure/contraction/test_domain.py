"""The states that a certificate speaks of: stated, invariant, and refused outside."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from remanence._precision import as_double, double
from remanence.cells import Diagonal, Elman, GRU, Linear, LSTM, Residual, Stack
from remanence.measure.contraction import contraction
from remanence.measure.contraction.worst_pair import inside


def distance(proof, h, other):
    return float(proof.evidence["norm"](ravel_pytree(h)[0] - ravel_pytree(other)[0]))


def remembering():
    """A GRU that forgets while its input is small, and keeps its state where it is large."""
    W_x, b = jnp.array([[0.0], [5.0], [1.0]]), jnp.array([0.0, -2.0, 0.0])
    return GRU(jnp.zeros((3, 1)), W_x, b)


def quiet_below():
    """A linear layer that says little of its inputs, and whatever is in its state."""
    return Linear(jnp.full((1, 1), 0.5), jnp.full((1, 1), 0.1))


def test_far_states_below_a_gated_layer_are_outside_the_domain():
    # From far below, the GRU's gate opens and nothing of it is forgotten at once.
    stack = Stack((quiet_below(), remembering()))
    proof = contraction(stack, input_bound=1.0)
    assert not proof.vacuous and "of layer 1" in str(proof.domain)
    far = [(jnp.array([4e4]), jnp.array([side])) for side in (0.5, -0.5)]
    x = jnp.zeros(1)
    one, two = far
    for _ in range(12):
        one, two = stack(one, x), stack(two, x)
    gap = abs(float(one[1][0] - two[1][0]))
    assert gap > 20 * proof.overshoot * proof.rate**12
    assert far[0] not in proof.domain
    near = [(jnp.array([0.1]), jnp.array([side])) for side in (0.1, -0.1)]
    assert near[0] in proof.domain and distance(proof, *near) > 0.2


def test_layers_that_need_no_bound_are_certified_for_all_states():
    stack = Stack((quiet_below(), Elman(jnp.full((1, 1), 0.5), jnp.ones((1, 1)))))
    proof = contraction(stack, input_bound=1.0)
    assert str(proof.domain) == "all states" and "all states" in str(proof)
    # tanh says at most 1, wherever its state is: the layer below is free.
    tanh = Elman(jnp.full((1, 1), 0.5), jnp.full((1, 1), 9.0))
    proof = contraction(Stack((tanh, LSTM(0.1 * jnp.ones((4, 1)), jnp.ones((4, 1))))))
    assert len(proof.domain.balls) == 1 and proof.domain.balls[0].layer == 2


def test_a_gated_cell_is_certified_on_its_box():
    cell = jax.tree.map(lambda leaf: 0.3 * leaf, LSTM.init(2, 3, key=jr.key(0)))
    proof = contraction(cell, input_bound=1.0)
    h, c = (jnp.asarray(0.99 * part) for part in np.split(proof.evidence["box"], 2))
    assert "in a box up to" in str(proof)
    assert (h, c) in proof.domain and (h, 3 * c) not in proof.domain


@pytest.mark.parametrize("kind", ["lstm", "gru", "residual", "linear"])
def test_no_input_leads_out_of_a_domain(kind):
    key = jr.key(3)
    below = {
        "lstm": jax.tree.map(lambda leaf: 0.3 * leaf, LSTM.init(2, 3, key=key)),
        "gru": jax.tree.map(lambda leaf: 0.3 * leaf, GRU.init(2, 3, key=key)),
        "residual": Residual.init(2, 3, key=key, residual=0.4, coupling=0.2),
        "linear": Linear.init(2, 3, key=key, gain=0.3),
    }[kind]
    cell = Stack((below, jax.tree.map(lambda leaf: 0.2 * leaf, GRU.init(3, 3, key=key))))
    proof = contraction(cell, input_bound=0.3)
    assert not proof.vacuous
    with double():
        cell = as_double(cell)
        flat, unravel = ravel_pytree(cell.initial_state())
        # The edge of every ball at once, in drawn directions and under extreme inputs.
        for draw in range(8):
            key_h, key_x = jr.split(jr.key(draw))
            h = unravel(inside(proof.domain, 50 * jr.normal(key_h, flat.shape)))
            assert h in proof.domain
            for x in jr.rademacher(key_x, (3, 2), dtype=float):
                h = cell(h, 0.3 * x)
                assert h in proof.domain


def test_distances_of_a_stack_of_single_units_are_at_least_euclidean():
    layer = lambda W: Linear(jnp.full((1, 1), W), jnp.ones((1, 1)))
    proof = contraction(Stack((layer(0.5), layer(0.25))), input_bound=1.0)
    zero, one = (jnp.zeros(1), jnp.zeros(1)), (jnp.ones(1), jnp.ones(1))
    found = distance(proof, zero, one)
    assert 2**0.5 <= found <= proof.overshoot * 2**0.5


def test_a_stack_in_a_stack_is_the_stack_of_its_layers():
    a, b, c = (Linear.init(2, 2, key=jr.key(i), gain=0.3) for i in range(3))
    flat = contraction(Stack((a, b, c)), input_bound=1.0)
    for nested in (Stack((a, Stack((b, c)))), Stack((Stack((a, b)), c))):
        proof = contraction(nested, input_bound=1.0)
        assert (proof.rate, proof.overshoot) == (flat.rate, flat.overshoot)
        h = jax.tree.map(jnp.ones_like, nested.initial_state())
        assert distance(proof, h, nested.initial_state()) >= 6**0.5


def test_a_complex_layer_below_another():
    below = Diagonal(a=jnp.array([0.3 + 0.4j]), B=jnp.ones((1, 1), jnp.complex64))
    proof = contraction(Stack((below, Linear(0.5 * jnp.eye(2), jnp.eye(2)))))
    assert 0.5 <= proof.rate < 0.7 and proof.evidence["norm"].size == 4


def test_a_stack_with_a_layer_that_is_not_certified_is_vacuous():
    wild = Linear(1.1 * jnp.eye(2), jnp.eye(2))
    calm = GRU(jnp.zeros((6, 2)), jnp.zeros((6, 2)))
    proof = contraction(Stack((wild, calm)), input_bound=1.0)
    assert proof.vacuous and proof.rate == pytest.approx(1.1, rel=1e-6)
    assert "vacuous" in str(proof)
