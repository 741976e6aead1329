r"""All binary necklaces: the distribution of $d^*(w)$, real and rational, by period."""

import collections

import numpy as np
import xarray as xr

from ...report import Bench
from .minimal.minimal_dimension import harmonic_dimension
from .words import necklaces, word


def atlas(periods: int, bench: Bench) -> xr.Dataset:
    """How many classes of words need each dimension, for periods 2 to `periods`."""
    counts = {
        field: np.zeros((periods - 1, periods), dtype=np.int64) for field in ("real", "rational")
    }
    proved = np.zeros(periods - 1, dtype=bool)
    for i, p in enumerate(range(2, periods + 1)):
        bench.tell(f"atlas: binary necklaces of period {p}")
        optimal = True
        for letters in necklaces(p):
            w = word(letters)
            for field, table in counts.items():
                found = harmonic_dimension(w, field=field, time_limit=60.0)
                table[i, found.dimension] += 1
                optimal &= found.optimal
        proved[i] = optimal
    return xr.Dataset(
        {
            "real": (("period", "dimension"), counts["real"]),
            "rational": (("period", "dimension"), counts["rational"]),
            "proved": ("period", proved),
        },
        coords={"period": np.arange(2, periods + 1), "dimension": np.arange(periods)},
    )


def distribution(table: xr.Dataset, period: int, field: str = "real") -> dict[str, int]:
    """The classes of one period by the dimension that they need."""
    row = table[field].sel(period=period)
    found = collections.OrderedDict(
        (str(int(d)), int(c)) for d, c in zip(row.dimension, row, strict=True) if c
    )
    return dict(found)
