import numpy as np
import pytest
from hypothesis import given, strategies as st

from remanence.measure.fourier import (
    frequency_plane,
    key_frequencies,
    signed_axis,
    spectrum,
    spectrum_2d,
    wave_fit_error,
    without_frequencies,
)
from remanence.subjects.modular_addition.task import Modular


def waves(period, frequencies, columns=6, seed=0):
    """A table that holds exactly these frequencies, with equal energy."""
    random = np.random.default_rng(seed)
    table = np.zeros((period, columns))
    for k in frequencies:
        plane = frequency_plane(period, k)
        mix = np.linalg.qr(random.normal(size=(columns, len(plane))))[0]
        table += plane.T @ mix.T
    return table


@given(st.integers(3, 20))
def test_the_planes_are_an_orthonormal_basis(period):
    basis = np.concatenate([frequency_plane(period, k) for k in range(period // 2 + 1)])
    np.testing.assert_allclose(basis @ basis.T, np.eye(period), atol=1e-12)


@given(st.integers(3, 20), st.integers(0, 10))
def test_energies_are_the_squared_projections_and_add_up(period, seed):
    table = np.random.default_rng(seed).normal(size=(period, 4))
    energies = spectrum(table)
    for k, energy in enumerate(energies):
        projected = frequency_plane(period, k) @ table
        np.testing.assert_allclose(energy, (projected**2).sum(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(energies.sum(), (table**2).sum())


@pytest.mark.parametrize("period", [7, 8])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_wave_of_the_sum_lies_on_one_diagonal_of_the_plane(period, sign):
    i, j = np.ogrid[:period, :period]
    table = np.cos(2 * np.pi * 3 * (i + sign * j) / period)
    energy = spectrum_2d(table)
    np.testing.assert_allclose(energy.sum(), (table**2).sum())
    column = list(signed_axis(period)).index(sign * 3)
    np.testing.assert_allclose(energy[3, column], energy.sum())


def test_the_rule_finds_exactly_the_frequencies_that_are_there():
    random = np.random.default_rng(0)
    table = waves(43, (3, 11, 20)) + 0.05 * random.normal(size=(43, 6))
    found = key_frequencies(table)
    assert found.frequencies == (3, 11, 20)
    assert found.share > 0.7
    assert max(found.p_values[k - 1] for k in (3, 11, 20)) <= 0.01


def test_shuffled_rows_have_a_key_frequency_as_rarely_as_the_rule_says():
    random = np.random.default_rng(1)
    table, wrong, trials = waves(29, (3, 11)), 0, 200
    for trial in range(trials):
        shuffled = random.permutation(table)
        found = key_frequencies(shuffled, error=0.05, shuffles=99, seed=trial)
        wrong += len(found.frequencies) > 0
    # Binomial(200, 0.05): 24 or more has probability below 1e-3.
    assert wrong < 24


def test_the_null_mean_is_an_even_spread():
    """Shuffled, a zero-mean table puts 2/(n-1) of its energy into each frequency."""
    random = np.random.default_rng(2)
    table = waves(29, (5,))
    shares = [spectrum(random.permutation(table))[1:] for _ in range(3000)]
    np.testing.assert_allclose(np.mean(shares, axis=0) / (table**2).sum(), 2 / 28, rtol=0.08)


def test_ablation_is_idempotent_and_spares_other_frequencies():
    table = np.random.default_rng(0).normal(size=(13, 13, 4))
    cut = without_frequencies(table, (3, 5), axes=(0, 1))
    for axis in (0, 1):
        energies = spectrum(np.moveaxis(cut, axis, 0))
        np.testing.assert_allclose(energies[[3, 5]], 0.0, atol=1e-12)
    np.testing.assert_allclose(without_frequencies(cut, (3, 5), axes=(0, 1)), cut)
    kept = without_frequencies(table[:, 0], (3,))
    others = [k for k in range(7) if k != 3]
    np.testing.assert_allclose(spectrum(kept)[others], spectrum(table[:, 0])[others], rtol=1e-9)


@pytest.mark.parametrize("operation", ["+", "-", "×"])
def test_the_fit_is_exact_for_waves_of_the_answer_and_blind_to_others(operation):
    task = Modular(11, operation)
    profile = waves(task.period, (2, 4)) + 7.0
    table = profile[task.phases]
    assert wave_fit_error(table, task.phases, (2, 4)) < 1e-12
    assert wave_fit_error(table, task.phases, (3,)) == pytest.approx(1.0)
    assert wave_fit_error(table, task.phases, (2,)) == pytest.approx(2**-0.5)


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(ValueError, match="constant or not finite"):
        key_frequencies(np.ones((7, 2)))
    with pytest.raises(ValueError, match="constant or not finite"):
        key_frequencies(np.full((7, 2), np.nan))
    with pytest.raises(ValueError, match=r"error must lie in"):
        key_frequencies(waves(7, (1,)), error=1e-6)
    with pytest.raises(ValueError, match="frequency must lie in 0 to 3"):
        frequency_plane(7, 4)
