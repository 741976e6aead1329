"""Memory measures where the answer is known, then that they bound one another."""

import dataclasses

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import remanence as rm
from remanence.cells import Elman, Linear, LSTM
from remanence.measure import fixed_points


def test_the_panel_of_a_contracting_network_is_consistent():
    key_cell, key_x = jr.split(jr.key(0))
    cell = Elman.init(2, 6, key=key_cell, gain=0.4)
    xs = np.asarray(jr.uniform(key_x, (400, 2), minval=-1.0))
    panel = rm.memory_horizon(cell, xs, error=1e-3)
    assert panel["window"] <= panel["certified window"]
    assert panel.remembers < 20
    assert str(panel).count("step") >= 5
    with pytest.raises(KeyError, match="no horizon is called 'nothing'"):
        panel["nothing"]


def test_a_rotation_never_forgets_and_the_panel_says_so():
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    cell = Linear(jnp.asarray(turn), jnp.eye(2))
    xs = np.asarray(0.1 * jr.normal(jr.key(0), (300, 2)))
    panel = rm.memory_horizon(cell, xs)
    assert panel.remembers == np.inf and panel["window"] == np.inf
    assert panel["certified window"] is None
    assert "unbounded" in str(panel) and any("No window is proved" in n for n in panel.notes)


@pytest.mark.parametrize(
    ("top", "stderr", "steps", "remark"),
    [
        (-0.0004, 0.0008, np.inf, "no measurable forgetting: λ₁ = -0.0004 ± 0.0008"),
        (0.0004, 0.0008, np.inf, "no measurable forgetting"),
        (-0.1, 0.01, 10.0, "λ₁ = -0.1 ± 0.01: 8.333 to 12.5"),
        (0.1, 0.01, np.inf, "λ₁ = 0.1 ± 0.01"),
    ],
)
def test_an_exponent_near_zero_is_no_horizon(top, stderr, steps, remark):
    cell = Linear(0.9 * jnp.eye(1), jnp.eye(1))
    xs = np.ones((60, 1))
    found = dataclasses.replace(
        rm.lyapunov_spectrum(cell, xs), exponents=np.array([top]), stderr=np.array([stderr])
    )
    panel = rm.memory_horizon(cell, xs, spectrum=found, quick=True)
    measure = next(m for m in panel.measures if m.name == "exponent")
    assert measure.value == pytest.approx(steps) and measure.remark.startswith(remark)
    open_ = "The largest exponent cannot be told from 0"
    assert any(open_ in note for note in panel.notes) == (abs(top) < 2 * stderr)


def test_fixed_points_of_an_lstm_stand_still():
    cell = LSTM.init(2, 4, key=jr.key(0))
    points = fixed_points(cell, np.array([0.3, -0.2]), starts=6)
    assert len(points) == 1 and points[0].found == 6
    assert points[0].kind == "fixed" and points[0].stability == "stable"
    assert points[0].eigenvalues.shape == (8,)
    h = (
        jnp.asarray(points[0].state[:4], jnp.float32),
        jnp.asarray(points[0].state[4:], jnp.float32),
    )
    np.testing.assert_allclose(cell(h, jnp.array([0.3, -0.2]))[0], h[0], atol=1e-6)


def test_a_bistable_unit_has_two_attractors_and_a_repeller():
    points = fixed_points(Elman(2 * jnp.eye(1), jnp.zeros((1, 1))), starts=12)
    assert [p.stability for p in points] == ["repeller", "stable", "stable"]
    found = sorted(float(p.state[0]) for p in points)
    np.testing.assert_allclose(found, [-0.957504, 0, 0.957504], atol=1e-6)


def test_a_slow_point_is_told_from_a_fixed_one():
    # h' = h + x drifts everywhere at the same slow speed and stands still nowhere.
    cell = Linear(jnp.eye(2), jnp.eye(2))
    points = fixed_points(cell, np.array([1e-4, 0.0]), starts=3)
    assert {p.kind for p in points} == {"slow"}
    np.testing.assert_allclose(points[0].speed, 1e-4, rtol=1e-6)


def test_refusals():
    cell = Elman.init(2, 3, key=jr.key(0))
    with pytest.raises(ValueError, match="takes 2 numbers a step, the inputs have 3"):
        fixed_points(cell, np.ones(3))
