"""Ablations on a written adder, whose frequencies are known exactly."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence._precision import as_double, double
from remanence.cells import LSTM
from remanence.measure.fourier import spectrum, without_frequencies
from remanence.nets import Recurrent
from remanence.subjects.modular_addition.ablation import (
    ablated_accuracies,
    accuracy_with,
    modular_accuracy,
    modular_states,
    PLACES,
    states_without,
)
from remanence.subjects.modular_addition.all_pairs import table_logits, table_states
from remanence.subjects.modular_addition.exact_adder import adder
from remanence.subjects.modular_addition.task import Modular


BUILT = adder(17, (1, 4, 6))


def ablated_accuracy(net, task, gone, at):
    return float(ablated_accuracies(net, task, [tuple(gone)], at=at)[0])


def by_itself(net, task, gone, at):
    """The accuracy with these frequencies cut by Fourier transforms, outside any program."""
    order, P = task.elements, task.modulus

    def cut(leaf, *axes):
        leaf, where = np.array(leaf, float), np.ix_(*[order] * len(axes))
        leaf[where] = without_frequencies(leaf[where], gone, axes=axes)
        return jnp.asarray(leaf)

    with double():
        net = as_double(net)
        if at == "embedding":
            net = eqx.tree_at(lambda n: n.embedding, net, cut(net.embedding, 0))
        if at == "unembedding":
            net = eqx.tree_at(lambda n: n.W_y, net, cut(net.W_y, 0))
        states = table_states(net, P)
        if at == "h1":
            states = table_states(net, P, first=jax.tree.map(lambda h: cut(h, 0), states.first))
        if at == "h2":
            second = jax.tree.map(lambda h: cut(h, 0, 1), states.second)
            states = table_states(net, P, first=states.first, second=second)
        third = states.third if at != "h3" else jax.tree.map(lambda h: cut(h, 0, 1), states.third)
        return float((np.asarray(table_logits(net, third)).argmax(-1) == task.answers).mean())


@pytest.mark.parametrize("at", PLACES)
def test_an_absent_frequency_is_not_missed_and_all_are(at):
    # 1, 4, 6 and their doubles 2, 8, 5 (= 17 - 12) are there; 3 and 7 are not.
    if at in ("embedding", "h1", "unembedding"):
        assert ablated_accuracy(BUILT.net, BUILT.task, (3, 7), at=at) == 1.0
    everything = ablated_accuracy(BUILT.net, BUILT.task, range(1, 9), at=at)
    assert everything < 0.2


def test_losing_more_frequencies_costs_more():
    cost = [
        ablated_accuracy(BUILT.net, BUILT.task, gone, at="unembedding")
        for gone in ((), (1,), (1, 4), (1, 4, 6))
    ]
    assert cost == sorted(cost, reverse=True)
    assert cost[0] == 1.0 and cost[-1] < 0.2


def test_a_cut_inside_the_recurrence_reaches_every_later_state_and_no_earlier_one():
    plain = modular_states(BUILT.net, BUILT.task)
    for step in (1, 2, 3):
        cut = states_without(BUILT.net, BUILT.task, (4,), step=step)
        for t, (one, other) in enumerate(zip(plain, cut, strict=True), start=1):
            gap = np.abs(one - other).max()
            assert (gap == 0.0) if t < step else (gap > 0.1), (step, t)


def test_pair_states_of_a_gated_cell_are_cut_in_every_part():
    key_cell, key_net = jr.split(jr.key(0))
    cell = LSTM.init(4, 5, key=key_cell)
    net = Recurrent.init(cell, outputs=7, tokens=8, readout="last", key=key_net)
    task = Modular(7, "×")
    plain, cut = modular_states(net, task), states_without(net, task, (2,), step=1)
    for one, other in zip(jax.tree.leaves(plain), jax.tree.leaves(cut), strict=True):
        assert np.abs(one - other).max() > 1e-4
    for leaf in jax.tree.leaves(cut.first):
        assert spectrum(leaf[task.elements])[2] < 1e-12
    for one, other in zip(plain.first, cut.first, strict=True):
        np.testing.assert_array_equal(one[0], other[0])  # 0 is apart


def test_replacing_a_matrix_by_itself_changes_nothing():
    cell = BUILT.net.cell
    tensors = {"W_ih": cell.W_x, "W_hh": cell.W_h, "W_fc": BUILT.net.W_y}
    for name, W in tensors.items():
        assert accuracy_with(BUILT.net, BUILT.task, name, np.asarray(W, float)) == 1.0
    W_E = np.asarray(BUILT.net.embedding, float)[:17]
    assert accuracy_with(BUILT.net, BUILT.task, "W_E", W_E) == 1.0
    assert accuracy_with(BUILT.net, BUILT.task, "W_E", 0 * W_E) <= 1 / 17 + 1e-9


def test_what_cannot_be_cut_is_refused():
    with pytest.raises(ValueError, match="step must be 1, 2 or 3, got 4"):
        states_without(BUILT.net, BUILT.task, (1,), step=4)
    with pytest.raises(ValueError, match="modulus 19 needs 20 tokens"):
        modular_accuracy(BUILT.net, Modular(19))


@pytest.mark.parametrize("at", PLACES)
def test_many_ablations_at_once_are_each_by_itself(at):
    sets = [(), (1,), (4, 6), (1, 4, 6), (3,), (2, 8, 5)]
    at_once = ablated_accuracies(BUILT.net, BUILT.task, sets, at=at)
    each = [by_itself(BUILT.net, BUILT.task, gone, at) for gone in sets]
    np.testing.assert_allclose(at_once, each, rtol=0, atol=1e-12)


def test_many_ablations_of_a_gated_cell_leave_zero_apart():
    key_cell, key_net = jr.split(jr.key(0))
    cell = LSTM.init(4, 5, key=key_cell)
    net = Recurrent.init(cell, outputs=7, tokens=8, readout="last", key=key_net)
    task = Modular(7, "×")
    sets = [(1,), (2,), (1, 2, 3)] * 6  # more than one call of the program
    for at in ("embedding", "h1", "h2", "h3"):
        each = [by_itself(net, task, gone, at) for gone in sets[:3]] * 6
        at_once = ablated_accuracies(net, task, sets, at=at)
        np.testing.assert_allclose(at_once, each, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="one of embedding"):
        ablated_accuracies(net, task, sets, at="h4")
    with pytest.raises(ValueError, match="lie in 0 to 3"):
        ablated_accuracies(net, task, [(4,)], at="h1")
    assert ablated_accuracies(net, task, [], at="h1").shape == (0,)


@pytest.mark.parametrize("at", PLACES)
def test_a_network_of_another_vocabulary_is_refused(at):
    with pytest.raises(ValueError, match="modulus 11 needs 12 tokens and 11 outputs"):
        ablated_accuracies(BUILT.net, Modular(11), [(1,)], at=at)
