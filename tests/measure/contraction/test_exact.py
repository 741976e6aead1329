"""Certificates of maps whose contraction is known in closed form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from remanence.cells import Diagonal, Elman, GRU, Linear, LSTM, Residual, Stack
from remanence.measure.contraction import contraction
from remanence.measure.contraction.loop import loop_of
from remanence.measure.contraction.metric import maximum_proof, scaled_proof
from remanence.measure.contraction.quadratic_metric import inequality_holds, verified_proof
from remanence.measure.contraction.rounding import definite, norm_above, sigmoid_at, tanh_at
from remanence.nets import Recurrent


def rotation(radius: float, angle: float):
    c, s = np.cos(angle), np.sin(angle)
    return jnp.asarray(radius * np.array([[c, -s], [s, c]]), jnp.float32)


def linear(W):
    return Linear(W, jnp.ones((W.shape[0], 1), W.dtype))


def test_a_scaled_rotation_contracts_by_its_radius():
    proof = contraction(linear(rotation(0.8, 0.7)), metric="norm")
    assert proof.rate == pytest.approx(0.8, abs=1e-6)
    assert (proof.overshoot, proof.verified, proof.vacuous) == (1.0, True, False)


def test_any_radius_below_one_is_certified_by_the_lyapunov_equation():
    W = jnp.array([[0.99, 5.0], [0.0, 0.98]])
    proof = contraction(linear(W))
    assert proof.metric == "lyapunov" and 0.99 <= proof.rate < 1
    assert contraction(linear(W), metric="norm").vacuous


def test_a_radius_of_one_is_vacuous():
    assert contraction(linear(rotation(1.0 + 1e-6, 0.3))).vacuous


def test_independent_units_contract_by_the_largest():
    real = Diagonal(a=jnp.array([0.5, -0.75]), B=jnp.ones((2, 1)))
    assert contraction(real).rate == pytest.approx(0.75, abs=1e-12)
    turning = Diagonal(a=jnp.array([0.3 + 0.4j]), B=jnp.ones((1, 1), jnp.complex64))
    assert contraction(turning).rate == pytest.approx(0.5, abs=1e-7)


def test_a_triangular_tanh_cell_is_certified_by_scaling_alone():
    # Units 0.5 on the diagonal; the coupling above it can be scaled away.
    cell = Elman(jnp.array([[0.5, 8.0], [0.0, 0.5]]), jnp.ones((2, 1)))
    proof = contraction(cell)
    assert proof.evidence["metrics"]["norm"]["rate"] > 8
    assert proof.rate < 0.6 and proof.overshoot > 8
    assert proof.limit == pytest.approx(0.5, rel=1e-6)


def test_a_rotation_gains_from_multipliers():
    # [[0, -g], [g, 0]] has norm g; masks leave either the rotation or nothing, so
    # the limit is g too: nothing is to be had beyond the norm.
    proof = contraction(Elman(rotation(0.9, np.pi / 2), jnp.ones((2, 1))))
    assert proof.limit == pytest.approx(0.9, rel=1e-5)
    assert proof.rate == pytest.approx(0.9, rel=1e-4)


def test_a_nilpotent_mask_structure_is_beyond_every_diagonal_metric():
    # 2x2 skew plus diagonal: the full metric reaches what the masks allow.
    W = jnp.array([[0.6, -0.6], [0.6, 0.6]])
    proof = contraction(Elman(W, jnp.ones((2, 1))))
    tried = proof.evidence["metrics"]
    assert tried["full"]["rate"] <= tried["diagonal"]["rate"] + 1e-9
    assert proof.limit <= proof.rate


@pytest.mark.parametrize("residual", [0.5, -0.25])
def test_a_residual_without_coupling_is_its_residual(residual):
    cell = Residual(residual, jnp.ones((2, 2)), jnp.ones((2, 1)), coupling=0.0)
    assert contraction(cell, metric="norm").rate == pytest.approx(abs(residual))


def test_a_leaky_residual_uses_the_middle_of_the_slopes():
    # J = 0.5 - D for a coupling of -1 ... +: with W = -I, J lies in [-0.5, 0.5].
    cell = Residual(0.5, -jnp.eye(3), jnp.ones((3, 1)))
    assert contraction(cell, metric="norm").rate == pytest.approx(0.5, abs=1e-9)


def test_a_gated_cell_with_zero_weights_forgets_at_its_gate():
    zero = jnp.zeros((4, 1))
    lstm = contraction(LSTM(zero, zero), input_bound=1.0)
    assert lstm.rate == pytest.approx(0.5, abs=1e-6)
    zero = jnp.zeros((3, 1))
    gru = contraction(GRU(zero, zero), input_bound=1.0)
    assert gru.rate == pytest.approx(0.5, abs=1e-6)


def test_a_stack_contracts_like_its_worst_layer():
    slow, quick = linear(0.9 * jnp.eye(2)), Linear(0.2 * jnp.eye(3), jnp.ones((3, 2)))
    proof = contraction(Stack((slow, quick)), input_bound=1.0)
    assert 0.9 <= proof.rate < 0.97 and proof.overshoot > 1


def test_a_comparison_matrix_with_a_known_root():
    K = np.array([[0.1, 0.4], [0.4, 0.1]])
    assert maximum_proof(K).rate == pytest.approx(0.5, abs=1e-6)
    scaled = scaled_proof(K)
    assert scaled.rate == pytest.approx(0.5, abs=1e-6)
    assert scaled.overshoot == pytest.approx(1.0, abs=1e-6)


def test_definite_is_a_proof_and_not_a_guess():
    eye = np.eye(3)
    assert definite(eye, 1e-3 * np.ones((3, 3)))
    assert not definite(eye, 0.5 * np.ones((3, 3)))
    assert not definite(np.diag([1.0, 1.0, 0.0]), np.zeros((3, 3)))
    # A singular matrix that a bare Cholesky factorisation may accept.
    v = np.array([[1.0, 1 / 3, 1e-8]])
    assert not definite(v.T @ v + 1e-17 * eye, 1e-16 * np.ones((3, 3)))


def test_a_wrong_metric_is_not_proved():
    loop = loop_of(Elman(0.9 * jnp.eye(2), jnp.ones((2, 1))).contraction_form(), None)
    P, ones = np.eye(2), np.ones(2)
    assert inequality_holds(loop, P, ones, 0.9 + 1e-6)
    assert not inequality_holds(loop, P, ones, 0.9 - 1e-4)
    assert not inequality_holds(loop, P, -ones, 0.95)
    assert not inequality_holds(loop, -P, ones, 0.95)
    assert verified_proof(loop, -P, ones) is None


def test_enclosures_hold_the_true_value():
    import mpmath

    z = np.array([-30.0, -1.5, 0.0, 1e-9, 0.3, 20.0])
    with mpmath.workdps(40):
        for low, high, at in zip(*sigmoid_at(z), z, strict=True):
            assert low <= 1 / (1 + mpmath.exp(-mpmath.mpf(float(at)))) <= high
        for low, high, at in zip(*tanh_at(z), z, strict=True):
            assert low <= mpmath.tanh(mpmath.mpf(float(at))) <= high
            assert high - low < 1e-14


def test_the_norm_is_bounded_from_above_and_closely():
    A = np.diag([3.0, 2.0, 1e-3])
    assert 3.0 <= norm_above(A) <= 3.0 * (1 + 1e-9)
    assert norm_above(np.zeros((2, 3))) < 1e-60


@pytest.mark.parametrize(
    ("cell", "options", "sentence"),
    [
        (LSTM(jnp.zeros((4, 1)), jnp.zeros((4, 1))), {}, "give input_bound"),
        (GRU(jnp.zeros((3, 1)), jnp.zeros((3, 1))), {}, "give input_bound"),
        (linear(jnp.eye(2)), {"metric": "best"}, "metric must be one of"),
        (linear(jnp.eye(2)), {"input_bound": -1.0}, "input_bound must be"),
        (linear(jnp.eye(2)), {"input_bound": float("nan")}, "input_bound must be"),
        (linear(jnp.eye(2)), {"time_limit": 0.0}, "time_limit must be positive"),
        (linear(jnp.nan * jnp.eye(2)), {}, "not finite"),
        (
            Elman(jnp.eye(2), jnp.ones((2, 1)), activation=lambda z: z**3),
            {},
            "slopes of the activation",
        ),
        (Residual(jnp.flip, jnp.eye(2), jnp.ones((2, 1))), {}, "a matrix or a number would do"),
        (jax.nn.relu, {}, "offers contraction_form"),
        (Recurrent(linear(jnp.eye(2))), {}, "got Recurrent; its .cell would do"),
    ],
)
def test_refusals_say_what_would_do(cell, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        contraction(cell, **options)


def test_given_slopes_certify_an_unknown_activation():
    cell = Elman(0.5 * jnp.eye(2), jnp.ones((2, 1)), activation=lambda z: 1.5 * jnp.sin(z))
    assert contraction(cell, slopes=(-1.5, 1.5)).rate == pytest.approx(0.75, rel=1e-6)


def test_what_was_not_tried_is_named():
    cell = Elman.init(1, 8, key=jax.random.key(0))
    proof = contraction(cell, time_limit=1e-9)
    assert set(proof.evidence["untried"]) >= {"full"}
