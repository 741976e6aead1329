"""Numbers that enter a proof are counted with their rounding: a false bound is never proved."""

import random
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

from remanence._precision import double
from remanence.cells import GRU, LoopForm, LSTM, Residual
from remanence.measure.contraction import contraction
from remanence.measure.contraction.loop import loop_of, norm_proof
from remanence.measure.contraction.quadratic_metric import inequality_holds


COUPLING = 0.1


def cancelling(target: float, seed: int) -> tuple[float, float]:
    """R and W with R + .1 W = target in floats, and a little more than that in truth."""
    draw = random.Random(seed)
    while True:
        W = draw.uniform(1e9, 2e9)
        product = COUPLING * W
        lost = Fraction(COUPLING) * Fraction(W) - Fraction(product)
        if lost > Fraction(3, 10) * Fraction(np.spacing(product)):
            return target - product, W


def hidden_growth() -> tuple[Residual, Fraction]:
    """A linear residual network of radius above 1 whose rounded matrix has one below 1."""
    grid = float(np.spacing(1e8))
    rows = [[0.25 - grid * (i == j) for j in range(4)] for i in range(4)]
    pairs = [[cancelling(rows[i][j], 4 * i + j) for j in range(4)] for i in range(4)]
    R, W = np.moveaxis(np.array(pairs), -1, 0)
    exact = [sum(Fraction(r) + Fraction(COUPLING) * Fraction(w) for r, w in row) for row in pairs]
    with double():
        cell = Residual(jnp.asarray(R), jnp.asarray(W), jnp.ones((4, 1)), None, COUPLING, abs)
    return cell, min(exact)


def test_a_radius_above_one_is_not_certified_by_its_rounded_matrix():
    # The smallest row sum of a positive matrix is at most its spectral radius.
    cell, radius = hidden_growth()
    rounded = np.asarray(cell.R) + COUPLING * np.asarray(cell.W_h)
    assert np.max(np.abs(np.linalg.eigvals(rounded))) < 1 < radius
    for metric in ("auto", "norm", "infinity", "diagonal", "lyapunov"):
        proof = contraction(cell, metric=metric, slopes=(1.0, 1.0))
        assert proof.rate >= float(radius), str(proof)


def test_slopes_whose_middle_is_rounded_are_all_inside():
    # (a + b) / 2 and (b - a) / 2 are not floats here; J = R + d W for d = b is.
    a, b = -0.1, 1.1
    for R, W in ((-1 / 3, 0.7), (0.05, 0.9), (1 / 7, -0.3)):
        loop = loop_of(LoopForm(np.full((1, 1), W), np.ones((1, 1)), None, abs, R), (a, b))
        ends = [abs(Fraction(R) + Fraction(d) * Fraction(W)) for d in (a, b)]
        assert Fraction(norm_proof(loop).rate) >= max(ends)


@pytest.mark.parametrize("part", [0.999999999, 1 - 1e-13])
def test_a_rate_below_the_truth_is_not_proved(part):
    loop = loop_of(LoopForm(np.diag([0.9, 0.5]), np.ones((2, 1))), None)
    assert not inequality_holds(loop, np.eye(2), np.ones(2), 0.9 * part)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_saturated_gates_keep_their_box(kind):
    # Gates and candidates round to 1: the box is the unit box, and still holds.
    blocks = 4 if kind == "lstm" else 3
    cell = (LSTM if kind == "lstm" else GRU)(jnp.zeros((blocks, 1)), jnp.full((blocks, 1), 400.0))
    proof = contraction(cell, input_bound=1.0)
    assert proof.vacuous and np.all(proof.evidence["box"][:1] <= 1)
    assert cell.initial_state() in proof.domain
