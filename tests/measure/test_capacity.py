"""Memory capacity against theory: linear networks by their Gramian, tanh by quadrature."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from remanence.cells import Elman, Linear
from remanence.measure import memory_capacity


def orthogonal(units, inputs, radius, seed=0):
    draw = np.random.default_rng(seed)
    Q = np.linalg.qr(draw.normal(size=(units, units)))[0]
    return radius * Q, draw.normal(size=(units, inputs))


def delay_line(units, inputs):
    """Unit i holds the input, of one of the channels, of i // inputs steps ago."""
    return np.eye(units, k=-inputs), np.eye(units, inputs)


def leaky(units, inputs, leak=0.7, seed=0):
    draw = np.random.default_rng(seed)
    W = draw.normal(size=(units, units))
    W *= 0.9 / np.abs(np.linalg.eigvals(W)).max()
    return (1 - leak) * np.eye(units) + leak * W, draw.normal(size=(units, inputs))


def theory(A, B, lags):
    r"""Rank and $R^2(k)$ of $x = \sum_k A^k B u_{t-k}$: the projections on its own responses."""
    K = [B]
    while np.abs(K[-1]).max() > 1e-17:
        K.append(A @ K[-1])
    K = np.stack(K)
    flat = np.concatenate(K, axis=1)
    _, s, Vh = np.linalg.svd(flat / np.linalg.norm(flat, axis=1)[:, None], full_matrices=False)
    rank = int((s > 1e-12 * s[0]).sum())
    square = (Vh[:rank] ** 2).sum(axis=0).reshape(len(K), -1).mean(axis=1)
    return rank, np.pad(square, (0, lags))[:lags]


CASES = {
    "orthogonal 16, radius .5": orthogonal(16, 1, 0.5),
    "orthogonal 16, radius .9": orthogonal(16, 1, 0.9),
    "orthogonal 16, radius .999": orthogonal(16, 1, 0.999),
    "orthogonal 16, 3 inputs": orthogonal(16, 3, 0.98),
    "orthogonal 64, 16 inputs": orthogonal(64, 16, 0.97),
    "delay line 64": delay_line(64, 1),
    "delay lines 64, 16 inputs": delay_line(64, 16),
    "leaky 64, 16 inputs": leaky(64, 16),
    "leaky 16, 1 input": leaky(16, 1),
    # Of these 32 units some move by less than 1e-12 of the rest: the limit says how many.
    "leaks of many rates": (np.diag(np.linspace(0, 0.95, 32)), np.ones((32, 1))),
}


@pytest.mark.parametrize(("A", "B"), CASES.values(), ids=CASES)
def test_capacity_of_linear_networks_is_that_of_theory(A, B):
    found = memory_capacity(Linear(jnp.asarray(A), jnp.asarray(B)))
    rank, recall = theory(A, B, len(found.recall))
    assert found.limit == rank and found.settled
    assert abs(found.total - rank) <= 3 * found.stderr + 1e-6
    assert found.stderr < 2e-3 * rank
    np.testing.assert_allclose(found.recall, recall, atol=5e-3 * recall.max())


def test_the_longest_case_reaches_as_far_as_it_remembers():
    A, B = orthogonal(16, 1, 0.999)
    cell = Linear(jnp.asarray(A), jnp.asarray(B))
    found = memory_capacity(cell)
    assert found.recall[:64].sum() < 2.5 and len(found.recall) > 2000
    short = memory_capacity(cell, lags=256)
    assert not short.settled and short.stderr > 1
    assert "longer ones may add" in str(short)


def test_what_never_fades_is_said():
    turn = jnp.asarray([[0.6, -0.8], [0.8, 0.6]])
    found = memory_capacity(Linear(turn, jnp.eye(2)), lags=512)
    assert not found.settled and found.stderr > 1 and found.total <= found.limit == 2


@pytest.mark.parametrize("wired", [slice(0, 4), slice(4, 8)])
def test_inputs_that_are_not_wired_count_for_nothing(wired):
    W_x = np.zeros((8, 8))
    W_x[wired, wired] = np.eye(4)
    found = memory_capacity(Linear(jnp.zeros((8, 8)), jnp.asarray(W_x)))
    assert found.limit == 4
    np.testing.assert_allclose(found.total, 4, atol=1e-9)


def test_many_inputs_are_asked_by_declared_mixtures():
    A, B = 0.5 * np.eye(8), np.random.default_rng(0).normal(size=(8, 40))
    cell = Linear(jnp.asarray(A), jnp.asarray(B))
    found = [memory_capacity(cell, key=jr.key(seed)) for seed in range(8)]
    assert {f.channels for f in found} == {16} and {f.limit for f in found} == {8}
    assert all(f.total <= 8 for f in found)
    off = np.array([(f.total - 8) / f.stderr for f in found])
    assert np.abs(off).max() < 3 and 0.1 < found[0].stderr < 1.5


GAINS = (0.5, 3.0, 1.0)


def through_tanh():
    """Unit k holds a function of the input of k steps ago, and the answer by quadrature."""
    W = jnp.diag(jnp.asarray(GAINS[1:]), k=-1)
    cell = Elman(W, GAINS[0] * jnp.eye(3, 1))
    x, weight = np.polynomial.hermite_e.hermegauss(200)
    weight, y, total = weight / weight.sum(), x, 0.0
    for gain in GAINS:
        y = np.tanh(gain * y)
        total += (weight @ (x * y)) ** 2 / (weight @ y**2)
    return cell, total


def test_error_bars_cover_the_truth_and_chance_is_taken_off():
    cell, truth = through_tanh()
    found = [memory_capacity(cell, key=jr.key(seed)) for seed in range(24)]
    total, stderr = np.array([(f.total, f.stderr) for f in found]).T
    # 95 % of Student's distribution, for 8 runs.
    assert np.mean(np.abs(total - truth) < 2.365 * stderr) >= 20 / 24
    assert abs(total.mean() - truth) < 3 * total.std() / 24**0.5
    assert np.median(stderr) < 0.02
    assert np.mean([f.raw for f in found]) > truth + 0.02


def test_an_even_function_of_the_past_recalls_nothing():
    cell = Elman(jnp.zeros((6, 6)), jnp.arange(1.0, 7.0)[:, None] / 3, activation=jnp.cos)
    found = memory_capacity(cell)
    assert found.total <= 3 * found.stderr < 0.2
    assert found.raw > 0.5 and found.limit == 6


def test_a_state_that_does_not_move_or_runs_away():
    still = memory_capacity(Linear(jnp.eye(2) / 2, jnp.zeros((2, 1))))
    assert (still.total, still.stderr, still.limit) == (0.0, 0.0, 0)
    with pytest.raises(ValueError, match="leaves the range of floats"):
        memory_capacity(Linear(2 * jnp.eye(2), jnp.ones((2, 1))), lags=400)


def test_more_steps_make_a_smaller_error():
    cell = Elman.init(2, 12, key=jr.key(0))
    few, many = (memory_capacity(cell, steps=steps) for steps in (4096, 65536))
    assert many.steps >= 65536 and many.stderr < few.stderr / 2
    assert abs(few.total - many.total) < 3 * np.hypot(few.stderr, many.stderr)


def test_refusals():
    class Silent:
        def __call__(self, h, x):
            return jax.numpy.tanh(h + x)

        def initial_state(self):
            return jnp.zeros(1)

    with pytest.raises(ValueError, match="give width="):
        memory_capacity(Silent())
    with pytest.raises(ValueError, match="lags must be at least 4, got 3"):
        memory_capacity(Silent(), width=1, lags=3)
    with pytest.raises(ValueError, match="range of floats"):
        memory_capacity(Linear(3 * jnp.eye(2), jnp.eye(2)))
