r"""All binary necklaces: the distribution of $d^*(w)$, and the least $|a|$ of one unit."""

import numpy as np
import xarray as xr

from ...report import Bench
from .minimal.feedback_stability import least_feedback
from .minimal.minimal_dimension import harmonic_dimension
from .words import necklaces, word


def atlas(periods: int, bench: Bench) -> xr.Dataset:
    """How many classes of words need each dimension, for periods 2 to `periods`."""
    shape, dims = (periods - 1, periods), ("period", "dimension")
    counts = {field: np.zeros(shape, dtype=np.int64) for field in ("real", "rational")}
    proved = np.ones(periods - 1, dtype=bool)
    for i, p in enumerate(range(2, periods + 1)):
        bench.tell(f"atlas: binary necklaces of period {p}")
        for letters in necklaces(p):
            for field, table in counts.items():
                found = harmonic_dimension(word(letters), field=field, time_limit=60.0)
                table[i, found.dimension] += 1
                proved[i] &= found.optimal
    return xr.Dataset(
        {**{field: (dims, table) for field, table in counts.items()}, "proved": ("period", proved)},
        coords={"period": np.arange(2, periods + 1), "dimension": np.arange(periods)},
    )


def distribution(table: xr.Dataset, period: int) -> dict[str, int]:
    """The classes of one period by the dimension that they need."""
    row = table["real"].sel(period=period)
    return {str(int(d)): int(c) for d, c in zip(row.dimension, row, strict=True) if c}


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
