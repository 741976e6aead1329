import math

import equinox as eqx
import hypothesis
import hypothesis.strategies as st
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence import cells
from remanence._precision import as_double, double
from remanence.subjects import fading_memory


pushed = eqx.filter_jit(cells.pushforward)


def exponents(cell, xs, h=None):
    """Finite-time exponents from QR along the tangent flow, written out in NumPy."""
    with double():
        cell = as_double(cell)
        h = cell.initial_state() if h is None else jnp.asarray(h, jnp.float64)
        Q, logs = np.eye(cells.dimension(cell)), 0.0
        for x in np.asarray(xs, np.float64):
            h, Z = pushed(cell, h, jnp.asarray(x), jnp.asarray(Q))
            Q, U = np.linalg.qr(np.asarray(Z))
            logs = logs + np.log(np.abs(np.diagonal(U)))
    return np.sort(logs / len(xs))[::-1]


def residual_cell(R, units, coupling, key, inputs=1):
    R, coupling = jnp.asarray(R, jnp.float32), jnp.asarray(coupling, jnp.float32)
    return cells.Residual.init(inputs, units, key=key, residual=R, coupling=coupling)


@pytest.mark.parametrize("radius", [0.5, 0.9, 1.0, 1.1])
def test_without_coupling_every_exponent_is_log_r(radius, key):
    xs = jr.normal(key, (20, 1))
    flat = residual_cell(radius, 6, 0.0, key)
    turning = residual_cell(fading_memory.spectral([radius] * 3, [0.4] * 3), 6, 0.0, key)
    # Weights are float32: the radius is exact as such, right to seven figures.
    exact = math.log(np.float32(radius))
    np.testing.assert_allclose(exponents(flat, xs), exact, atol=1e-12)
    np.testing.assert_allclose(exponents(turning, xs), math.log(radius), atol=1e-6)


@hypothesis.settings(max_examples=12)
@hypothesis.given(
    seed=st.integers(0, 2**16),
    radius=st.sampled_from([0.7, 0.95, 1.0]),
    coupling=st.floats(1e-3, 0.25),
    turning=st.booleans(),
)
def test_no_exponent_leaves_the_bound(seed, radius, coupling, turning):
    key = jr.key(seed)
    R = fading_memory.spectral([radius] * 3, [0.7] * 3) if turning else radius
    cell = residual_cell(R, 6, coupling, key)
    bound = fading_memory.weak_coupling_bound(R, cell.W_h, coupling=coupling)
    gap = np.abs(exponents(cell, jr.normal(key, (12, 1))) - math.log(radius)).max()
    assert gap <= bound + 1e-6


def test_the_bound_is_reached_by_a_constant_map():
    cell = cells.Residual(0.8, -2 * jnp.eye(3), jnp.zeros((3, 1)), coupling=0.1)
    bound = fading_memory.weak_coupling_bound(0.8, cell.W_h, coupling=0.1)
    gap = math.log(0.8) - exponents(cell, np.zeros((5, 1)))
    np.testing.assert_allclose(gap, bound, atol=1e-6)
    assert fading_memory.weak_coupling_bound(0.8, cell.W_h, coupling=0.4) == math.inf


def test_a_jordan_block_follows_the_root_law():
    """J = rI + U + gamma e_N e_1^T has eigenvalues r + gamma^(1/N) times roots of unity."""
    N, radius, gammas = 8, 0.9, np.array([1e-8, 1e-6, 1e-4])
    block = fading_memory.jordan_block(N, radius=radius)
    corner = jnp.zeros((N, N)).at[N - 1, 0].set(1.0)
    moved = []
    for gamma in gammas:
        with double():
            cell = as_double(
                cells.Residual(block, corner, jnp.zeros((N, 1)), coupling=float(gamma))
            )
            J = np.asarray(cells.jacobian(cell, cell.initial_state(), None))
        moved.append(np.abs(np.linalg.eigvals(J)).max() - np.float64(np.float32(0.9)))
    np.testing.assert_allclose(moved, gammas ** (1 / N), rtol=1e-6)


def test_spectral_has_the_eigenvalues_asked_for():
    radii, angles = [0.9, 0.5], [0.3, math.pi]
    values = np.linalg.eigvals(np.asarray(fading_memory.spectral(radii, angles), float))
    expected = [0.9 * np.exp(0.3j), 0.9 * np.exp(-0.3j), -0.5, -0.5]
    np.testing.assert_allclose(np.sort_complex(values), np.sort_complex(expected), atol=1e-6)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (
            lambda: fading_memory.spectral([-0.9], [0.1]),
            "radius must be above 0 and at most 2, got -0.9",
        ),
        (
            lambda: fading_memory.spectral([math.nan], [0.1]),
            "radius must be above 0 and at most 2, got nan",
        ),
        (
            lambda: fading_memory.spectral([3.0], [0.1]),
            "radius must be above 0 and at most 2, got 3",
        ),
        (
            lambda: fading_memory.spectral([0.9], [-0.1]),
            r"angle must lie in \[0, pi\] radians per step, got -0.1",
        ),
        (lambda: fading_memory.spectral([0.9], [7.0]), r"got 7"),
        (
            lambda: fading_memory.spectral([0.9], [0.1, 0.2]),
            "equally many and at least one, got 1 and 2",
        ),
        (lambda: fading_memory.jordan_block(4, radius=0.0), "radius must be above 0"),
        (
            lambda: fading_memory.weak_coupling_bound(
                jnp.diag(jnp.array([1.0, 0.5])), jnp.eye(2), coupling=0.1
            ),
            "multiple of an orthogonal",
        ),
    ],
)
def test_what_is_out_of_range_is_refused(made, sentence):
    with pytest.raises(ValueError, match=sentence):
        made()
