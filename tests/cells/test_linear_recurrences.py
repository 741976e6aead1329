"""Cells that are linear in their own state: steps, scans, Jacobians and sum rules."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from linear_recurrences import recurrences

from remanence._precision import as_double, double
from remanence.cells import DeltaRule, Diagonal, dimension, Heads, jacobian, RWKV7, SLSTM
from remanence.cells.delta_rule import log_determinants, transported
from remanence.nets import unroll


DRAWN = recurrences()


def rwkv7_inputs(key, heads, steps):
    """Inputs whose decays and rates lie where RWKV-7's do."""
    n = heads.count * heads.keys
    parts = [jr.normal(jr.fold_in(key, i), (steps, n)) for i in range(6)]
    parts[3] = jnp.exp(-0.606531 * jax.nn.sigmoid(parts[3]))
    parts[5] = jax.nn.sigmoid(parts[5])
    return jnp.concatenate(parts, axis=1)


@pytest.mark.parametrize("name", DRAWN)
def test_a_scan_over_time_gives_the_states_of_the_steps(name, key):
    with double():
        cell = as_double(DRAWN[name](key))
        xs = jr.normal(jr.key(1), (9, 5))
        h = 0.1 * jr.normal(jr.key(2), cell.initial_state().shape)
        states, _ = eqx.filter_jit(type(cell).along)(cell, h, xs @ cell.W_in.T)
        np.testing.assert_allclose(states, unroll(cell, h, xs), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", DRAWN)
def test_volume_and_decays_are_those_of_the_jacobian(name, key):
    with double():
        cell = as_double(DRAWN[name](key))
        x = jr.normal(jr.key(1), (5,))
        h = 0.1 * jr.normal(jr.key(2), cell.initial_state().shape)
        flat, unravel = ravel_pytree(h)
        J = jax.jacfwd(lambda flat: ravel_pytree(cell(unravel(flat), x))[0])(flat)
        np.testing.assert_allclose(jacobian(cell, h, x), J, atol=1e-12)
        volume = cell.log_volume()(h, x)
        np.testing.assert_allclose(volume, np.linalg.slogdet(J)[1], rtol=1e-10)
        if hasattr(cell, "log_decays"):
            decays = jnp.broadcast_to(cell.log_decays(h, x), h.shape)
            np.testing.assert_allclose(jnp.diag(jnp.exp(decays.ravel())), J, atol=1e-12)


def test_the_transition_of_a_delta_rule_acts_on_every_value(key):
    heads = Heads(2, 3, 3)
    with double():
        cell = DeltaRule(RWKV7(heads))
        u = rwkv7_inputs(key, heads, 1)[0]
        h = jr.normal(jr.key(2), (2, 3, 3))
        transition = cell.transition(h, u)
        eye = jnp.broadcast_to(jnp.eye(3), (2, 3, 3))
        A = transported(transition, eye)
        whole = jax.scipy.linalg.block_diag(*(jnp.kron(one, jnp.eye(3)) for one in A))
        np.testing.assert_allclose(jacobian(cell, h, u), whole, atol=1e-12)
        sums = log_determinants(transition)
        np.testing.assert_allclose(sums, np.linalg.slogdet(A)[1], rtol=1e-10)
        # Forgetting holds in radius and not in norm: no Euclidean certificate.
        assert jnp.abs(jnp.linalg.eigvals(A)).max() < 1


def test_slstm_averages_what_it_wrote(key):
    cell = SLSTM.init(3, 4, key=key, heads=2)
    states = unroll(cell, cell.initial_state(), jr.normal(key, (20, 3)))
    c, n, h = states
    assert dimension(cell) == 12
    assert (jnp.abs(c / n) <= 1).all() and (jnp.abs(h) < 1).all()


def test_diagonal_state_spaces_are_their_continuous_systems(key):
    """S4D-Lin decays by half its step; S5 has the spectrum of HiPPO's normal part, held a step."""
    s4d = Diagonal.s4d(2, 3, key=key)
    steps = -2 * np.log(np.abs(s4d.a)).reshape(2, 3)
    np.testing.assert_allclose(steps, steps[:, :1] * np.ones(3), rtol=1e-4)
    assert ((steps > 9e-4) & (steps < 0.11)).all()
    angles = np.angle(np.asarray(s4d.a)) / (np.pi * steps.ravel())
    np.testing.assert_allclose(angles.reshape(2, 3), [[0, 1, 2]] * 2, atol=1e-3)
    s5 = Diagonal.s5(2, 4, key=key)
    n = np.arange(8)
    hippo = -np.sqrt(np.outer(2 * n + 1, 2 * n + 1)) * (n[:, None] > n) - np.diag(n + 1)
    normal = hippo + np.outer(np.sqrt(n + 0.5), np.sqrt(n + 0.5))
    expected = np.sort(np.linalg.eigvals(normal).imag)[4:]
    Lambda = np.log(np.asarray(s5.a))
    step = -2 * Lambda.real
    np.testing.assert_allclose(Lambda.imag / step, expected, rtol=1e-3)
    held = ((np.asarray(s5.a) - 1) / Lambda * step)[:, None]
    assert np.abs(np.asarray(s5.B) / held).std() > 0.1  # every mode hears every input
