"""Proofs against measurements on drawn networks: none is ever passed."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from remanence._precision import as_double, double
from remanence.cells import Bent, Diagonal, Elman, GRU, Linear, LSTM, Residual, Stack
from remanence.measure.contraction import contraction, twin_rate


def scaled(cell, gain):
    return jax.tree.map(lambda leaf: leaf * gain, cell)


CELLS = {
    "linear": (lambda key: Linear.init(2, 6, key=key, gain=0.5), None),
    "tanh": (lambda key: Elman.init(2, 6, key=key, gain=0.6), None),
    "relu": (
        lambda key: Elman.init(2, 6, key=key, gain=0.6, activation=jax.nn.relu),
        1.0,
    ),
    "residual": (
        lambda key: Residual.init(2, 6, key=key, residual=0.5, coupling=0.3),
        None,
    ),
    "bent residual": (
        lambda key: Residual.init(
            2, 6, key=key, residual=Bent(jnp.asarray(0.4)), coupling=0.2
        ),
        None,
    ),
    "diagonal": (lambda key: Diagonal.init(2, 3, key=key, radius=(0.5, 0.9)), None),
    "lstm": (lambda key: scaled(LSTM.init(2, 4, key=key), 0.3), 1.0),
    "gru": (lambda key: scaled(GRU.init(2, 4, key=key), 0.4), 1.0),
    "stack": (
        lambda key: Stack(
            (
                scaled(GRU.init(2, 4, key=key), 0.3),
                scaled(LSTM.init(4, 3, key=key), 0.3),
                Elman.init(3, 4, key=key, gain=0.4),
            )
        ),
        1.0,
    ),
}


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("seed", [0, 1])
def test_no_pair_of_orbits_parts_faster_than_proved(kind, seed):
    draw, bound = CELLS[kind]
    cell = draw(jr.key(seed))
    proof = contraction(cell, input_bound=bound)
    assert proof.verified and proof.limit <= proof.rate < 1, str(proof)
    with double():
        cell = as_double(cell)
        zero, unravel = ravel_pytree(cell.initial_state())
        key_a, key_b, key_x = jr.split(jr.key(seed + 10), 3)
        xs = jr.uniform(key_x, (40, 2), minval=-1.0, maxval=1.0)
        if bound is None:
            start = [jr.normal(k, zero.shape) for k in (key_a, key_b)]
        else:
            # States that orbits from zero reach, for the certificates on a box.
            start = []
            for k in (key_a, key_b):
                h = cell.initial_state()
                for x in jr.uniform(k, (3, 2), minval=-1.0, maxval=1.0):
                    h = cell(h, x)
                start.append(ravel_pytree(h)[0])
        one, two = (unravel(h) for h in start)
        first = float(jnp.linalg.norm(start[0] - start[1]))
        ratios = []
        for k, x in enumerate(xs, start=1):
            one, two = cell(one, x), cell(two, x)
            gap = float(jnp.linalg.norm(ravel_pytree(one)[0] - ravel_pytree(two)[0]))
            ratios.append(gap / (proof.overshoot * proof.rate**k * first))
        assert max(ratios) <= 1 + 1e-12, ratios


@pytest.mark.parametrize("kind", [kind for kind in CELLS if kind != "stack"])
def test_twins_by_gradient_ascent_stay_below_the_rate(kind):
    draw, bound = CELLS[kind]
    cell = draw(jr.key(0))
    proof = contraction(cell, input_bound=bound)
    found = twin_rate(cell, proof, key=jr.key(1), starts=6, ascents=100)
    assert 0.3 * proof.rate < found <= proof.rate * (1 + 1e-9)


def test_the_ladder_climbs_for_gaussian_weights():
    # The published figures for N = 24: gains of .56, .63 and .80 are certified.
    gains = {"norm": [], "diagonal": [], "full": []}
    for seed in range(3):
        W = np.random.default_rng(seed).normal(size=(24, 24)) / 24**0.5
        cell = Elman(jnp.asarray(W, jnp.float32), jnp.ones((24, 1)))
        proof = contraction(cell)
        for name in gains:
            gains[name].append(1 / proof.evidence["rungs"][name]["rate"])
        assert 1 / proof.limit >= gains["full"][-1]
    norm, diagonal, full = (np.mean(gains[name]) for name in gains)
    assert norm == pytest.approx(0.54, abs=0.06)
    assert diagonal == pytest.approx(0.62, abs=0.05)
    assert full == pytest.approx(0.79, abs=0.06)


def largest_gain(draw, metric, proves):
    low, high = 0.0, 1.0
    for _ in range(14):
        gain = (low + high) / 2
        proof = contraction(draw(gain), input_bound=1.0, metric=metric)
        low, high = (gain, high) if proves(proof) else (low, gain)
    return low


def test_the_comparison_matrix_certifies_more_than_the_papers_condition():
    rng = np.random.default_rng(0)
    N = 16
    W, U = rng.normal(size=(2, 4 * N, N)) / N**0.5

    def draw(gain):
        return LSTM(*(jnp.asarray(gain * A, jnp.float32) for A in (W, U)))

    paper = largest_gain(draw, "norm", lambda proof: proof.evidence["condition"])
    summed = largest_gain(draw, "norm", lambda proof: proof.rate < 1)
    compared = largest_gain(draw, "infinity", lambda proof: proof.rate < 1)
    assert paper < summed < compared
    assert paper == pytest.approx(0.021, abs=0.008)
    assert compared == pytest.approx(0.14, abs=0.04)


def test_the_papers_projection_radii_contract_by_its_figure():
    # Rows at the paper's radii, one unit: f = sigmoid(.5655), rate .9970.
    W = jnp.array([[0.36], [0.128], [0.091], [0.36]])
    U = jnp.array([[0.0], [0.25], [0.0], [0.0]])
    b = jnp.array([0.0, 0.25, 0.0, 0.0])
    proof = contraction(LSTM(W, U, b), input_bound=0.75, metric="norm")
    assert proof.rate == pytest.approx(0.9971, abs=2e-4)
    assert proof.evidence["forget"] == pytest.approx(0.6377, abs=1e-4)
    assert contraction(LSTM(W, U, b), input_bound=0.75).rate < 0.8


@pytest.mark.slow
def test_clarabel_and_the_descent_agree():
    W = np.random.default_rng(3).normal(size=(8, 8)) / 8**0.5
    cell = Elman(jnp.asarray(W, jnp.float32), jnp.ones((8, 1)))
    ours = contraction(cell, metric="full")
    theirs = contraction(cell, metric="full", solver="clarabel")
    assert ours.rate == pytest.approx(theirs.rate, rel=5e-3)
