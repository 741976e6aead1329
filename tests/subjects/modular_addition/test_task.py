import jax.random as jr
import numpy as np
import pytest

from remanence.subjects.modular_addition.task import Modular, primitive_root


@pytest.mark.parametrize("operation", ["+", "-", "×"])
def test_in_the_order_of_the_elements_every_operation_is_addition(operation):
    task = Modular(13, operation)
    order = task.elements
    assert len(order) == task.period
    table = task.answers[np.ix_(order, order)]
    assert (order[task.phases] == table).all()


def test_products_leave_zero_apart():
    task = Modular(11, "×")
    assert 0 not in task.elements
    assert sorted(task.elements) == list(range(1, 11))
    assert (task.answers[0] == 0).all()


@pytest.mark.parametrize(("prime", "root"), [(3, 2), (7, 3), (23, 5), (113, 3)])
def test_smallest_primitive_roots_are_the_known_ones(prime, root):
    assert primitive_root(prime) == root


def test_the_split_has_the_asked_size_and_depends_on_the_key_only():
    task = Modular(17)
    mask = task.training_pairs(0.7, key=jr.key(0))
    assert mask.sum() == round(0.7 * 17**2)
    assert (mask == task.training_pairs(0.7, key=jr.key(0))).all()
    assert (mask != task.training_pairs(0.7, key=jr.key(1))).any()


@pytest.mark.parametrize("modulus", [-1, 0, 2])
def test_a_modulus_below_three_is_refused(modulus):
    with pytest.raises(ValueError, match="modulus must be at least 3"):
        Modular(modulus)


def test_a_composite_modulus_is_refused_for_products():
    with pytest.raises(ValueError, match=r"× needs a prime modulus .* got 15"):
        Modular(15, "×")


def test_an_unknown_operation_is_refused():
    with pytest.raises(ValueError, match="operation must be"):
        Modular(15, "/")


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.1, 1.5, 1e-9, float("nan")])
def test_a_fraction_without_pairs_on_both_sides_is_refused(fraction):
    with pytest.raises(ValueError, match="train fraction must"):
        Modular(5).training_pairs(fraction, key=jr.key(0))
