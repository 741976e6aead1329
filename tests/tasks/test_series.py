import numpy as np
import pytest

from remanence import tasks
from remanence.subjects import fading_memory
from remanence.tasks.series import FIRST_YEAR


def test_known_years_have_their_known_numbers():
    values = tasks.sunspots()
    known = {1700: 5, 1749: 80.9, 1778: 154.4, 1810: 0, 1957: 190.2, 2008: 2.9}
    for year, number in known.items():
        assert values[year - FIRST_YEAR] == number
    assert len(values) == 309
    assert values.sum() == pytest.approx(15373.4)


def test_the_sun_turns_in_eleven_years():
    spectrum = fading_memory.power_spectrum(tasks.sunspots())
    period = 2 * np.pi / spectrum.angles[spectrum.power.argmax()]
    assert 10 < period < 12


def test_windows_are_asked_for_the_next_step():
    xs, ys = tasks.windows(np.arange(10.0), 4)
    assert xs.shape == (6, 4, 1)
    np.testing.assert_array_equal(ys[2], [3, 4, 5, 6])
    np.testing.assert_array_equal(ys - xs[..., 0], 1)
    with pytest.raises(ValueError, match="length must be from 1 to 9, got 10"):
        tasks.windows(np.arange(10.0), 10)
