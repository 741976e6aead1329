"""Cells that are not ours: any state of real numbers, in any precision, is measured."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import remanence as rm
from remanence.cells import Linear
from remanence.measure import fixed_points, memory_capacity


TURN = np.array([[0.6, -0.8], [0.8, 0.6]], np.float32)


class Turned(eqx.Module):
    """h' = 0.9 turned h + x, from a start of the user's choosing."""

    start: Any = eqx.field(static=True)
    narrow: bool = False
    W: Any = eqx.field(default_factory=lambda: 0.9 * jnp.asarray(TURN))

    def __call__(self, h, x):
        following = self.W @ h + x
        return following.astype(jnp.float32) if self.narrow else following

    def initial_state(self):
        return self.start()


class Leaky(eqx.Module):
    """Two plain numbers for a state: h' = h/2 + x, c' = 0.9 c + h."""

    def __call__(self, h, x):
        return h[0] / 2 + x[0], 0.9 * h[1] + h[0]

    def initial_state(self):
        return 0.0, 0.0


STARTS = {
    "single": lambda: jnp.zeros(2, jnp.float32),
    "numpy": lambda: np.zeros(2, np.float32),
    "default": lambda: jnp.zeros(2),
}


@pytest.fixture(scope="module")
def xs():
    return np.random.default_rng(0).normal(size=(160, 2))


@pytest.fixture(scope="module")
def expected(xs):
    return rm.memory_horizon(Linear(0.9 * jnp.asarray(TURN), jnp.eye(2)), xs, quick=True)


@pytest.mark.parametrize("start", [STARTS["single"], STARTS["numpy"]], ids=["single", "numpy"])
def test_the_precision_of_the_first_state_does_not_matter(start, xs, expected):
    cell = Turned(start)
    found = rm.memory_horizon(cell, xs, quick=True)
    np.testing.assert_allclose(found.spectrum.exponents, np.log(0.9), atol=1e-6)
    for name in ("gradient", "window", "capacity"):
        assert found[name] == pytest.approx(expected[name], rel=1e-6), name
    assert rm.truncation_window(cell, error=1e-3, inputs=xs) == expected["window"]
    (point,) = fixed_points(cell, np.zeros(2))
    assert point.radius == pytest.approx(0.9, rel=1e-6)


def test_plain_numbers_are_a_state(xs):
    exponents = rm.lyapunov_spectrum(Leaky(), xs[:, :1]).exponents
    np.testing.assert_allclose(exponents, np.log([0.9, 0.5]), atol=1e-9)
    assert rm.truncate(Leaky(), 5)(jnp.ones((9, 1))).shape == (9, 2)
    assert memory_capacity(Leaky(), width=1, steps=400).limit == 2


@pytest.mark.parametrize(
    ("start", "word"), [(lambda: jnp.zeros(2, complex), "complex"), (lambda: jnp.arange(2), "int")]
)
def test_states_without_real_derivatives_are_refused(start, word, xs):
    with pytest.raises(ValueError, match=f"the state holds {word}"):
        rm.lyapunov_spectrum(Turned(start), xs)
    with pytest.raises(ValueError, match=f"the state holds {word}"):
        fixed_points(Turned(start), np.zeros(2))


def test_a_step_that_loses_precision_is_refused(xs):
    with pytest.raises(ValueError, match="a state in double into float32"):
        rm.lyapunov_spectrum(Turned(STARTS["single"], narrow=True), xs)


@pytest.mark.parametrize("like", [(3,), (1, 2), ((2,), (2,)), ()])
def test_a_start_unlike_the_state_is_refused(like, xs):
    pair = like and isinstance(like[0], tuple)
    h0 = tuple(map(jnp.zeros, like)) if pair else jnp.zeros(like)
    with pytest.raises(ValueError, match="h0 must be like the cell's own state"):
        rm.lyapunov_spectrum(Turned(STARTS["default"]), xs, h0=h0)


def test_padding_is_not_heard(xs):
    batch = np.stack([xs, xs])
    padded = batch.copy()
    padded[1, 100:] = np.nan
    cell = Linear(0.9 * jnp.asarray(TURN), jnp.eye(2))
    found, expected = (
        rm.lyapunov_spectrum(cell, each, lengths=[160, 100]) for each in (padded, batch)
    )
    np.testing.assert_array_equal(found.exponents, expected.exponents)
    with pytest.raises(ValueError, match="lengths must be whole numbers"):
        rm.lyapunov_spectrum(cell, batch, lengths=[160.0, 99.5])
    with pytest.raises(ValueError, match="NaN"):
        rm.lyapunov_spectrum(cell, padded, lengths=[160, 101])


def test_what_fixed_points_and_windows_refuse(xs):
    cell = Linear(0.5 * jnp.eye(2), jnp.eye(2))
    for options, words in (
        ({"starts": 0}, "starts must be at least 1"),
        ({"near": np.ones((4, 3))}, "rows of 2 numbers"),
        ({"x": np.full(2, np.nan)}, "NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            fixed_points(cell, **options)
    with pytest.raises(ValueError, match="a cell has __call__"):
        fixed_points("a cell")
