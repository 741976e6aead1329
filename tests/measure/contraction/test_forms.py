"""Which cells are certified: those that offer the form of their own step."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import pytest

from remanence.cells import (
    AbstractCell,
    Elman,
    GRU,
    Linear,
    LoopForm,
    Residual,
    Stack,
    WeaklyCoupled,
)
from remanence.measure.contraction import contraction
from remanence.nets import Recurrent


class Growing(Elman):
    """An Elman by descent only."""

    def __call__(self, h, x):
        return 3 * h


class Louder(GRU):
    """A GRU whose helper was changed, and not its step."""

    def _parts(self, h, x):
        r, z, n, m = GRU._parts(self, h, x)
        return r, 2 * z, n, m


class Leaky(AbstractCell):
    """A cell of one's own, h' = (1 - a) h + a tanh(W h + x), that offers a form."""

    W: Any
    a: float

    def __call__(self, h, x):
        return (1 - self.a) * h + self.a * jnp.tanh(self.W @ h + x)

    def initial_state(self):
        return jnp.zeros(len(self.W))

    def contraction_form(self):
        eye = jnp.eye(len(self.W))
        return LoopForm(self.W, eye, None, jnp.tanh, 1 - self.a, self.a)


W, W_x = 0.5 * jnp.eye(2), jnp.ones((2, 1))
COMPLEX = jnp.full((2, 2), 0.5 + 2j)


@pytest.mark.parametrize(
    "cell",
    [
        Growing(W, W_x),
        Louder(jnp.zeros((6, 2)), jnp.zeros((6, 1))),
        Stack((Linear(W, W_x), Growing(W, jnp.ones((2, 2))))),
    ],
)
def test_a_subclass_is_not_certified_as_its_parent(cell):
    with pytest.raises(ValueError, match=r"got (Growing|Louder), which only inherits"):
        contraction(cell, input_bound=1.0)


def test_no_part_is_advised_that_is_not_the_map():
    inner = GRU(jnp.zeros((6, 2)), jnp.zeros((6, 1)))
    with pytest.raises(ValueError, match=r"got WeaklyCoupled$"):
        contraction(WeaklyCoupled(inner, R=0.5), input_bound=1.0)
    with pytest.raises(ValueError, match=r"got Recurrent; its \.cell would do"):
        contraction(Recurrent(Linear(W, W_x)))


def test_a_cell_of_ones_own_is_certified_by_its_form():
    proof = contraction(Leaky(W, 0.25), input_bound=1.0)
    assert proof.rate == pytest.approx(0.875, rel=1e-6)


def replaced(cell, name, value):
    return eqx.tree_at(lambda cell: getattr(cell, name), cell, value)


@pytest.mark.parametrize(
    ("cell", "name", "value", "sentence"),
    [
        (Linear(W, W_x), "W_h", COMPLEX, "W_h is complex; .* needs real weights"),
        (Elman(W, W_x), "W_x", COMPLEX, "W_x is complex"),
        (GRU(jnp.ones((3, 1)), jnp.ones((3, 1))), "W_h", COMPLEX, "W_h is"),
        (Residual(W, W, W_x), "R", jnp.ones((2, 2, 2)), r"R has shape \(2, 2, 2\)"),
        (Residual(W, W, W_x), "R", jnp.ones(2), r"R has shape \(2,\), where \(2, 2\)"),
        (Residual(W, W, W_x), "W_h", jnp.ones((2, 3)), "W_h has shape"),
        (Residual(W, W, W_x), "coupling", 1j, "coupling is complex"),
    ],
)
def test_weights_that_no_proof_can_take_are_refused(cell, name, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        contraction(replaced(cell, name, value), input_bound=1.0)


def test_a_form_that_is_none_is_refused():
    class Odd(Leaky):
        def contraction_form(self):
            return "linear"

    with pytest.raises(ValueError, match="gave str; one of LoopForm"):
        contraction(Odd(W, 0.25))
