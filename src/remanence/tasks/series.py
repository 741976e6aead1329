"""One real time series with a strong period: yearly mean sunspot numbers, 1700 to 2008.

The International Sunspot Number in its first version (Wolf's scale), as kept by
the National Geophysical Data Center; public domain. `sunspots.txt` has a decade a line.
"""

import importlib.resources

import numpy as np
from jaxtyping import Float


FIRST_YEAR = 1700


def sunspots() -> Float[np.ndarray, " years"]:
    """The yearly numbers from 1700 on; their power peaks near one turn in 11 years.

    >>> len(sunspots()), float(sunspots().max())  # the maximum is the year 1957
    (309, 190.2)
    """
    file = importlib.resources.files("remanence.tasks").joinpath("sunspots.txt")
    return np.array(file.read_text().split(), dtype=np.float64)
