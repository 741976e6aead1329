"""The toy in log scale, and the race, against closed forms."""

import jax.random as jr
import numpy as np
import pytest

from remanence.subjects.shared_representations.language_pairs import circulant_pairs
from remanence.subjects.shared_representations.sign_barriers import (
    barrier_probability,
    needed_scale,
    success_probability,
)
from remanence.subjects.shared_representations.theory import (
    M,
    network_strengths,
    reduced_strengths,
    STRENGTHS,
)
from remanence.subjects.shared_representations.toy_model import toy_flow, toy_start


def conserved(state):
    """|u|² - |v|², which the flow keeps."""
    u, v = state.direction
    return np.exp(2 * state.log_size) * ((u**2).sum(1) - (v**2).sum(1))


@pytest.mark.parametrize("log10_scale", [-2.0, -40.0])
def test_two_factors_conserve_their_difference_and_converge(log10_scale):
    start = toy_start(6, log10_scale=log10_scale, draws=4, key=jr.key(0))
    fit = toy_flow(start, np.ones((6, 6)), rtol=1e-6)
    assert (fit.loss < 1e-8).all()
    assert (fit.test_loss == 0).all()
    np.testing.assert_allclose(*(conserved(state) for state in (fit.state, start)), atol=2e-4)


def test_two_factor_growth_is_the_exact_exponential():
    """Far below saturation u + v along the top mode grows as e^{σ1 t}."""
    n, sigma = 6, -40.0
    start = toy_start(n, log10_scale=sigma, draws=3, key=jr.key(1))
    T = np.ones((n, n))
    fit = toy_flow(start, T, stop=0.5 * n * n * 0.5)
    top = np.abs(sum(start.direction).sum(1)) / n**0.5 / 2
    # The amplitude of uvᵀ at half loss is 1 - 1/√2, so |u| = √(n (1 - 1/√2)).
    end = 0.5 * np.log(n * (1 - 2**-0.5))
    expected = (end - np.log(top) - start.log_size) / n
    np.testing.assert_allclose(fit.state.time, expected, rtol=0.01)


def test_three_factors_take_one_over_sigma():
    times = []
    for sigma in (-4.0, -8.0, -40.0):
        start = toy_start(6, log10_scale=sigma, draws=5, key=jr.key(3), factors=3)
        fit = toy_flow(start, np.ones((6, 6)))
        times.append(np.median(fit.state.time[fit.loss < 1e-8]))
    # The clock of three factors is t·σ: constant over thirty-six decades.
    assert max(times) / min(times) < 1.2


def test_barriers_are_predicted_and_positive_starts_meet_none():
    T = circulant_pairs(10, 2)
    probability = [
        barrier_probability(T, log10_scale=s, key=jr.key(0)) for s in (-1.0, -10.0, -40.0)
    ]
    assert probability[0] > 0.8 > probability[1] > 0.2 > 0.05 > probability[2]
    # Six languages, as in the other tests, whose program this is.
    T, start = circulant_pairs(6, 2), toy_start(6, log10_scale=-1.0, draws=8, key=jr.key(2))
    drawn = toy_flow(start, T)
    u, v = drawn.state.direction
    stuck = drawn.loss > 1e-8
    crossed = ((u[:, :, None] * v[:, None] <= 0) & (T > 0)).any((1, 2))
    assert stuck.any() and crossed[stuck].all()
    positive = start._replace(direction=tuple(np.abs(w) for w in start.direction))
    fit = toy_flow(positive, T)
    assert (fit.loss < 1e-8).all() and (fit.test_loss < 1e-4).all()


def test_needed_scale_follows_the_gap():
    assert needed_scale(circulant_pairs(10, 2), 0.01) == pytest.approx(
        -2 / (1 - np.cos(np.pi / 10))
    )
    assert needed_scale(np.eye(3), 0.01) == -np.inf


def test_race_conserves_and_ends_at_the_cube_root():
    b1, b2, _ = reduced_strengths(0.05, np.linspace(0, 6, 16))
    kept = b2**2 - M * b1**2
    assert np.abs(kept - kept[0]).max() < 1e-9
    np.testing.assert_allclose(b2[-1], (M * STRENGTHS) ** (1 / 3), rtol=1e-4)


def test_race_is_what_the_network_does():
    time = np.linspace(0, 1.5, 16)
    theory, seen = reduced_strengths(0.1, time), network_strengths(0.1, time)
    np.testing.assert_allclose(seen, theory, atol=1e-4)


def test_components_agree_by_luck_of_signs():
    islands = np.kron(np.eye(2), np.ones((3, 3)))
    assert success_probability(islands, log10_scale=-6.0, key=jr.key(0)) == 0.5
    start = toy_start(6, log10_scale=-6.0, draws=60, key=jr.key(5))
    fit = toy_flow(start, islands)
    share = float((fit.test_loss < 1e-3).mean())
    assert (fit.loss < 1e-8).all() and 0.3 < share < 0.7
    # Right or wrong, nothing between: the floor of one half is an average.
    assert np.allclose(np.sort(np.unique(fit.test_loss.round(2))), [0.0, 2.0])


def test_a_sigma_a_draw_is_each_draw_alone():
    T, scales = circulant_pairs(6, 5), np.array([-2.0, -9.0])
    for factors in (2, 3):
        options = {"draws": 2, "key": jr.key(0), "factors": factors}
        both = toy_flow(toy_start(6, log10_scale=scales, **options), T)
        for draw, scale in enumerate(scales.tolist()):
            alone = toy_flow(toy_start(6, log10_scale=scale, **options), T)
            np.testing.assert_allclose(both.state.time[draw], alone.state.time[draw], rtol=1e-9)
