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
