"""Every cell against an independent loop, its closed Jacobian product against autodiff."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
import reference
import torch_cases
from jax.flatten_util import ravel_pytree

from remanence import cells, nets
from remanence._precision import as_double, double
from remanence.formats import state_dict


UNITS, INPUTS, TIME = 6, 3, 12


def drawn(kind, key):
    key, key_R, key_b = jr.split(key, 3)
    match kind:
        case "relu":
            cell = cells.Elman.init(INPUTS, UNITS, key=key, activation=jax.nn.relu)
        case "residual":
            R = jr.normal(key_R, (UNITS, UNITS)) / 3
            cell = cells.Residual.init(INPUTS, UNITS, key=key, residual=R, coupling=0.3)
        case "diagonal" | "linear" | "elman":
            cell = getattr(cells, kind.title()).init(INPUTS, UNITS, key=key)
        case _:
            cell = getattr(cells, kind.upper()).init(INPUTS, UNITS, key=key)
    if getattr(cell, "b", None) is not None:
        cell = eqx.tree_at(lambda c: c.b, cell, jr.normal(key_b, cell.b.shape))
    return cell


KINDS = ["linear", "elman", "relu", "residual", "diagonal", "lstm", "gru"]


def parameters(cell):
    return {
        name: np.asarray(value, complex if np.iscomplexobj(value) else float)
        for name in ("W_h", "W_x", "b", "b_n", "R", "a", "B", "coupling")
        if (value := getattr(cell, name, None)) is not None
    }


@pytest.mark.parametrize("kind", KINDS)
def test_orbit_agrees_with_a_plain_loop_in_float64(kind, key):
    rng = np.random.default_rng(1)
    xs = rng.normal(size=(TIME, INPUTS))
    with double():
        cell = as_double(drawn(kind, key))
        orbit = nets.unroll(cell, cell.initial_state(), jnp.asarray(xs))
        got = np.concatenate([np.asarray(leaf) for leaf in jax.tree.leaves(orbit)], axis=1)
    step = getattr(reference, kind)
    size = 2 * UNITS if kind == "lstm" else UNITS
    h = np.zeros(size, complex if kind == "diagonal" else float)
    for t in range(TIME):
        h = step(parameters(cell), h, xs[t])
        expected = np.concatenate([h.real, h.imag]) if kind == "diagonal" else h
        np.testing.assert_allclose(got[t], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_pushforward_is_the_derivative_along_every_column(kind, key):
    with double():
        cell = as_double(drawn(kind, key))
        h = jax.tree.map(lambda a: 0.5 * jr.normal(key, a.shape), cell.initial_state())
        x = jr.normal(key, (INPUTS,))
        flat, unravel = ravel_pytree(h)
        J = jax.jacfwd(lambda f: ravel_pytree(cell(unravel(f), x))[0])(flat)
        Q = jr.normal(key, (flat.size, 4))
        following, JQ = cells.pushforward(cell, h, x, Q)
        np.testing.assert_allclose(JQ, J @ Q, atol=1e-13)
        np.testing.assert_allclose(
            ravel_pytree(following)[0], ravel_pytree(cell(h, x))[0], atol=1e-14
        )
        np.testing.assert_allclose(cells.jacobian(cell, h, x), J, atol=1e-13)


class Henon(eqx.Module):
    """A user's own cell: it inherits from nothing of ours."""

    a: float = 1.4

    def __call__(self, h, x):
        del x
        return jnp.stack([1 - self.a * h[0] ** 2 + h[1], 0.3 * h[0]])

    def initial_state(self):
        return jnp.zeros(2)


def test_a_cell_of_the_users_own_is_enough(key):
    cell = Henon()
    J = cells.jacobian(cell, jnp.array([0.5, 0.1]), None)
    np.testing.assert_allclose(J, [[-1.4, 1.0], [0.3, 0.0]], atol=1e-6)
    assert cell(cell.initial_state(), None).shape == (2,) and cells.dimension(cell) == 2


SINGLE = [case for case in torch_cases.CASES if "-1-" in case]


@pytest.mark.parametrize("case", SINGLE)
def test_orbit_agrees_with_stored_torch(case):
    agrees(torch_cases.stored(case), case)


@pytest.mark.torch
@pytest.mark.parametrize("case", SINGLE)
def test_orbit_agrees_with_live_torch(case):
    pytest.importorskip("torch")
    agrees(torch_cases.answers(case), case)


def agrees(tensors, case):
    outputs = tensors.pop("outputs")
    activation = jax.nn.relu if case.startswith("RELU") else jnp.tanh
    cell = state_dict.layer_from(tensors, "", "_l0", activation)
    xs = jnp.asarray(torch_cases.inputs(case))
    net = nets.Recurrent(cell)
    np.testing.assert_allclose(net(xs), outputs, rtol=0, atol=1e-6)


def test_a_stack_is_its_cells_one_above_the_other(key):
    k1, k2, kx = jr.split(key, 3)
    below, above = cells.LSTM.init(3, 4, key=k1), cells.GRU.init(4, 2, key=k2)
    stack = cells.Stack((below, above))
    xs = jr.normal(kx, (TIME, 3))
    hidden, _ = nets.unroll(below, below.initial_state(), xs)
    expected = nets.unroll(above, above.initial_state(), hidden)
    got = nets.unroll(stack, stack.initial_state(), xs)
    np.testing.assert_allclose(got[1], expected, atol=1e-6)
    assert cells.dimension(stack) == 10
    assert cells.input_size(stack) == 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: cells.Residual(1.0, jnp.eye(2), jnp.eye(2), coupling=-0.5),
            "coupling must not be negative",
        ),
        (lambda: cells.LSTM(jnp.ones((3, 2)), jnp.ones((3, 1))), "4N x N"),
        (lambda: cells.GRU(jnp.ones((4, 2)), jnp.ones((4, 1))), "3N x N"),
        (lambda: cells.Stack(()), "at least one cell"),
        (
            lambda: cells.Stack(
                (cells.Linear(jnp.eye(2), jnp.eye(2)), cells.Linear(jnp.eye(3), jnp.eye(3)))
            ),
            "cannot follow",
        ),
        (
            lambda: cells.Diagonal(jnp.ones(2), jnp.ones((2, 1), complex)),
            "both be real or both complex",
        ),
    ],
)
def test_wrong_cells_are_refused_with_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_wrong_shape_is_caught():
    cell = cells.Linear(jnp.eye(2), jnp.eye(2))
    with pytest.raises(Exception, match="Type-check"):
        cell(jnp.ones((2, 1)), jnp.ones(2))


def test_import_leaves_the_callers_precision_alone():
    assert jnp.ones(2).dtype == jnp.float32
    with double():
        assert jnp.ones(2).dtype == jnp.float64
    assert jnp.ones(2).dtype == jnp.float32
