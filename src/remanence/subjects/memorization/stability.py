r"""How stable one unit can be, $h' = a h + c_x$: the least $|a|$ of every binary necklace."""

import numpy as np
import xarray as xr

from ...report import Bench
from .minimal.feedback_stability import least_feedback
from .words import necklaces, word


def least_factors(periods: int, bench: Bench) -> xr.Dataset:
    """The least |a| of each class of words, for periods 2 to `periods`."""
    bench.tell(f"the least |a| of one unit, necklaces up to period {periods}")
    words = [w for p in range(2, periods + 1) for w in necklaces(p)]
    found = [least_feedback(word(w), stability=2.0, time_limit=60.0) for w in words]
    return xr.Dataset(
        {
            "least": ("necklace", np.array([f.least[1] for f in found])),
            "exact": ("necklace", np.array([f.exact for f in found])),
            "period": ("necklace", np.array([len(w) for w in words])),
        },
        coords={"necklace": np.array(["".join(map(str, w)) for w in words], dtype=np.str_)},
    )
