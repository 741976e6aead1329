import math

import matplotlib.figure
import matplotlib.pyplot as plt
import numpy as np
import pytest

import remanence as rm
from remanence.subjects import fading_memory
from remanence.subjects.fading_memory.informed_residual import spectral_peaks


def waves(*periods, steps=240, samples=1):
    t = np.arange(steps)
    return np.stack(
        [sum(a * np.cos(2 * np.pi * t / p + s) for a, p in periods) for s in range(samples)]
    )


def test_power_of_a_cosine_is_a_quarter_of_its_length():
    spectrum = fading_memory.power_spectrum(waves((1.0, 8))[0])
    at = spectrum.power.argmax()
    assert spectrum.angles[at] == pytest.approx(2 * np.pi / 8)
    assert spectrum.power[at] == pytest.approx(240 / 4)
    assert spectrum.power[0] == pytest.approx(0, abs=1e-20)


def test_angles_follow_the_peaks_and_radii_the_timescales():
    informed = rm.informed_residual(
        waves((3.0, 8), (1.0, 5), samples=3), units=16, timescales=[10, 100], peaks=2
    )
    np.testing.assert_allclose(informed.peaks, [2 * np.pi / 8, 2 * np.pi / 5])
    assert informed.shares == (6, 2)  # amplitudes 3 : 1
    values = np.linalg.eigvals(np.asarray(informed))
    np.testing.assert_allclose(np.sort(np.unique(np.round(-1 / np.log(np.abs(values))))), [10, 100])
    np.testing.assert_allclose(
        np.sort(np.abs(np.angle(values))), np.sort(np.repeat(informed.angles, 2)), atol=1e-5
    )


def test_ragged_and_token_data_have_a_spectrum():
    ragged = fading_memory.power_spectrum([waves((1.0, 8))[0], waves((1.0, 8))[0][:120]])
    assert ragged.angles[ragged.power.argmax()] == pytest.approx(2 * np.pi / 8)
    tokens = fading_memory.power_spectrum(np.arange(90) % 3)
    assert tokens.angles[tokens.power.argmax()] == pytest.approx(2 * np.pi / 3)
    channels = np.stack([waves((1.0, 8)), waves((0.1, 3))], axis=-1)
    peaks = spectral_peaks(fading_memory.power_spectrum(channels), most=2)
    np.testing.assert_allclose(peaks, [2 * np.pi / 8, 2 * np.pi / 3])


def test_the_picture_shows_spectrum_and_eigenvalues():
    figure = rm.informed_residual(waves((1.0, 8)), units=8).draw()
    assert isinstance(figure, matplotlib.figure.Figure)
    assert len(figure.axes) == 2
    plt.close(figure)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"units": 7}, "take 6 or 8"),
        ({"timescales": -1.0}, "timescales must be at least 0.01 steps, got -1"),
        ({"timescales": math.nan}, "timescales must be at least"),
        ({"timescales": 1e-9}, "timescales must be at least"),
        ({"timescales": []}, "timescales must be at least 0.01 steps"),
        ({"peaks": 0}, "peaks must be a whole number of at least 1, got 0"),
        ({"units": 1}, "take 2, or a homogeneous"),
        ({"units": 0}, "take 2, or a homogeneous"),
    ],
)
def test_what_cannot_be_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        rm.informed_residual(waves((1.0, 8)), **{"units": 8} | options)


@pytest.mark.parametrize("steps", [40, 63])
def test_a_shorter_sequence_brings_no_frequency_of_its_own(steps):
    whole = waves((1.0, 8))[0]
    informed = rm.informed_residual([whole, whole[:40], whole[:steps]], units=8)
    assert informed.peaks[0] == pytest.approx(2 * np.pi / 8, abs=0.02)
    assert len(informed.peaks) == 1 or steps == 63  # 63 steps cut the last wave


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (np.full((5, 63), 0.1), "must change in time"),
        (np.ones((5, 64, 2)), "must change in time"),
        (np.array([1.0, np.inf, 2.0, 3.0]), "data must be finite"),
        (np.exp(1j * np.arange(64)), "real numbers or tokens, got complex128"),
        ([np.exp(1j * np.arange(64))], "real numbers or tokens, got complex128"),
        (["ab", "cd"], "real numbers or tokens, got <U2"),
        (np.arange(9).astype("datetime64[D]"), "real numbers or tokens, got datetime"),
        (np.array([1.0, None, 2.0, 3.0]), "real numbers or tokens, got object"),
        (1e200 * np.cos(np.arange(64)), "got 2e[+]200: scale them"),
        (1e-200 * np.cos(np.arange(64)), "got 2e-200: scale them"),
        ([], "got shape"),
        (np.float64(1), "got shape"),
    ],
)
def test_odd_data_is_refused_in_a_sentence(data, sentence):
    with pytest.raises(ValueError, match=sentence):
        rm.informed_residual(data, units=8)


def test_one_sample_and_a_level_far_from_zero_have_their_peak():
    wave = waves((1.0, 8))
    for data in (wave[0], wave, wave[..., None], 1e6 + wave):
        informed = rm.informed_residual(data, units=8)
        np.testing.assert_allclose(informed.peaks[0], 2 * np.pi / 8)


def test_bad_data_is_refused():
    with pytest.raises(ValueError, match="at least 4 steps, got 2"):
        fading_memory.power_spectrum(np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="data must be finite"):
        fading_memory.power_spectrum(np.array([1.0, np.nan, 2.0, 3.0]))
    with pytest.raises(ValueError, match="got shape"):
        fading_memory.power_spectrum(np.zeros((2, 2, 2, 2)))
    with pytest.raises(ValueError, match="must change in time"):
        rm.informed_residual(np.ones(64), units=8)
    impulse = np.zeros(64)
    impulse[10] = 1.0
    with pytest.raises(ValueError, match="no peak"):
        rm.informed_residual(impulse, units=8)
