"""Proofs against adversaries on drawn networks: none is ever passed."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from adversaries import largest_excess

from remanence.cells import Diagonal, Elman, GRU, Linear, LSTM, Residual, Stack
from remanence.measure.contraction import contraction, worst_pair_rate


def scaled(cell, gain):
    return jax.tree.map(lambda leaf: leaf * gain, cell)


def residual(key, gain):
    R = 0.6 * gain * jr.normal(key, (6, 6)) / 6**0.5
    return Residual.init(2, 6, key=key, residual=R, coupling=0.5)


GATED = ("norm", "infinity", "diagonal")
LOOP = (*GATED, "full")
CELLS = {
    "linear": (lambda key, gain: Linear.init(2, 6, key=key, gain=gain), LOOP),
    "tanh": (lambda key, gain: Elman.init(2, 6, key=key, gain=gain), LOOP),
    "relu": (
        lambda key, gain: Elman.init(2, 6, key=key, gain=gain, activation=jax.nn.leaky_relu),
        LOOP,
    ),
    "residual": (residual, LOOP),
    "diagonal": (lambda key, gain: Diagonal.init(2, 3, key=key, radius=(0.1, gain)), ("auto",)),
    "lstm": (lambda key, gain: scaled(LSTM.init(2, 4, key=key), 0.6 * gain), GATED),
    "gru": (lambda key, gain: scaled(GRU.init(2, 4, key=key), 0.6 * gain), GATED),
}
STACKS = {
    "linear, GRU": lambda key, gain: Stack(
        (Linear.init(2, 4, key=key, gain=0.5 * gain), scaled(GRU.init(4, 3, key=key), 0.4 * gain))
    ),
    "residual, LSTM": lambda key, gain: Stack(
        (residual(key, 0.6 * gain), scaled(LSTM.init(6, 3, key=key), 0.4 * gain))
    ),
    "GRU, (tanh, LSTM)": lambda key, gain: Stack(
        (
            scaled(GRU.init(2, 3, key=key), 0.4 * gain),
            Stack(
                (
                    Elman.init(3, 4, key=key, gain=0.6 * gain),
                    scaled(LSTM.init(4, 2, key=key), 0.4 * gain),
                )
            ),
        )
    ),
    "relu, tanh": lambda key, gain: Stack(
        (
            Elman.init(2, 4, key=key, gain=gain, activation=jax.nn.relu),
            Elman.init(4, 4, key=key, gain=gain),
        )
    ),
}


HARD = {"starts": 12, "ascents": 200, "steps": 6}


def certified(draw, metric, wanted, *, bounds=(0.1, 1.0)):
    """Drawn cells with proofs that are not vacuous, some near the end of what is proved."""
    cells, proofs = [], []
    for seed in range(20 * wanted):
        key_cell, key_gain = jr.split(jr.key(seed))
        gain = float(jr.uniform(key_gain, (), minval=0.2, maxval=0.9))
        cell = draw(key_cell, gain)
        bound = bounds[seed % len(bounds)]
        proof = contraction(cell, input_bound=bound, metric=metric)
        if not proof.vacuous:
            assert proof.verified and proof.limit <= proof.rate, str(proof)
            cells.append(cell)
            proofs.append(proof)
        if len(cells) == wanted:
            return cells, proofs
    raise AssertionError(f"only {len(cells)} of {wanted} were certified")


def assert_never_passed(draw, metric, wanted, **effort):
    cells, proofs = certified(draw, metric, wanted)
    excess = largest_excess(cells, proofs, key=jr.key(1), **effort)
    assert excess.shape == (wanted, 2) and np.all(excess <= 1e-9), excess
    return excess


@pytest.mark.parametrize("kind", CELLS)
def test_no_adversary_passes_a_proof(kind):
    draw, metrics = CELLS[kind]
    excess = assert_never_passed(draw, metrics[-1], 3, starts=4, ascents=60)
    # An attack that comes nowhere near would prove nothing of the proofs.
    assert np.max(excess[:, 0]) > np.log(0.3)


@pytest.mark.parametrize("kind", ["linear, GRU", "GRU, (tanh, LSTM)"])
def test_no_adversary_passes_the_proof_of_a_stack(kind):
    assert_never_passed(STACKS[kind], "infinity", 3, starts=4, ascents=60)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CELLS)
def test_no_adversary_passes_one_of_five_hundred_proofs(kind):
    draw, metrics = CELLS[kind]
    for metric in metrics:
        wanted = -(-72 // len(metrics))
        assert_never_passed(draw, metric, wanted, **HARD)


@pytest.mark.slow
@pytest.mark.parametrize("kind", STACKS)
def test_no_adversary_passes_one_of_a_hundred_stacks(kind):
    for metric, wanted in (("infinity", 13), ("diagonal", 12)):
        assert_never_passed(STACKS[kind], metric, wanted, **HARD)


def test_the_worst_pair_comes_near_the_rate_and_not_above():
    cell = scaled(GRU.init(2, 4, key=jr.key(0)), 0.4)
    proof = contraction(cell, input_bound=1.0)
    found = worst_pair_rate(cell, proof, key=jr.key(1), starts=6, ascents=100)
    assert 0.5 * proof.rate < found <= proof.rate * (1 + 1e-9)


def test_better_metrics_certify_larger_gaussian_weights():
    # The published figures for N = 24: gains of .56, .63 and .80 are certified.
    gains = {"norm": [], "diagonal": [], "full": []}
    for seed in range(3):
        W = np.random.default_rng(seed).normal(size=(24, 24)) / 24**0.5
        cell = Elman(jnp.asarray(W, jnp.float32), jnp.ones((24, 1)))
        proof = contraction(cell)
        for name in gains:
            gains[name].append(1 / proof.evidence["metrics"][name]["rate"])
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
