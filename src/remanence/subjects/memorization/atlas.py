r"""The smallest dimension $d^*$ of all words, and how fast the largest one must grow with the period.

By Cover (1965) a set of harmonics of cost $c$ spells at most $2\sum_{k \leq c} \binom{p-1}{k}$ binary words
of period $p$. Where the sum of that over the sets of cost $d$ and $d - 1$ is less than the number of
words, some word needs more than $d$: at least $0.174 p$ (docs/science/memorization.md).
"""

import math

import numpy as np
import xarray as xr

from ...report import Bench
from ...train.store import opened_store
from .minimal.cheapest_harmonics import harmonic_dimension
from .words import necklaces, word


FIELDS = ("real", "rational")


def atlas(periods: tuple[tuple[int, int], ...], bench: Bench) -> xr.Dataset:
    """How many classes of words over n symbols need each dimension, from period 2 up to the
    one given for n. A finished period is stored and not computed again."""
    last, dims = max(p for _, p in periods), ("symbols", "period", "dimension")
    counts = {f: np.zeros((len(periods), last - 1, last), dtype=np.int64) for f in FIELDS}
    proved = np.zeros((len(periods), last - 1), dtype=np.int64)
    with opened_store(bench.folder / "atlas", {"table": "atlas"}, harmonic_dimension) as store:
        for i, (symbols, longest) in enumerate(periods):
            for p in range(2, longest + 1):
                name = f"{symbols}-symbols-period-{p}"
                found = store.get(name)
                if found is None:
                    bench.tell(f"atlas: words of period {p} over {symbols} symbols")
                    found = count_dimensions(p, symbols)
                    store.put(name, found)
                for field in FIELDS:
                    counts[field][i, p - 2, :p] = found[field]
                proved[i, p - 2] = found["proved"]
    axes = ([n for n, _ in periods], np.arange(2, last + 1), np.arange(last))
    return xr.Dataset(
        {**{f: (dims, table) for f, table in counts.items()}, "proved": (dims[:2], proved)},
        coords=dict(zip(dims, axes, strict=True)),
    )


def count_dimensions(period: int, symbols: int) -> dict[str, np.ndarray]:
    """The classes of words of one period by the dimension that they need, and how many have
    a proof over both fields."""
    counts = {field: np.zeros(period, dtype=np.int64) for field in FIELDS}
    proved = 0
    for letters in necklaces(period, symbols):
        found = {f: harmonic_dimension(word(letters), field=f, time_limit=60.0) for f in FIELDS}
        for field, row in counts.items():
            row[found[field].dimension] += 1
        proved += all(each.optimal for each in found.values())
    return counts | {"proved": np.array(proved)}


def largest_dimensions(counts: xr.DataArray) -> dict[int, int]:
    """The largest dimension that some word of each period needs, for the periods that have words."""
    top = counts.dimension.where(counts > 0).max("dimension")
    return {int(p): int(d) for p, d in zip(top.period, top, strict=True) if np.isfinite(d)}


def counting_bound(period: int) -> int:
    """A dimension that some binary word of this period needs, by counting.

    >>> [counting_bound(p) for p in (4, 8, 16, 32)]
    [2, 3, 4, 8]
    """
    words, before = _primitive_words(period), 0
    for d in range(period):
        # An odd period has no set of an odd cost.
        sets = 0 if period % 2 and d % 2 else math.comb((period - 1) // 2, d // 2)
        spelled = sets * 2 * sum(math.comb(period - 1, k) for k in range(d + 1))
        if before + spelled >= words:
            return d
        before = spelled
    raise AssertionError("all harmonics spell every word")


def _primitive_words(period: int) -> int:
    """Binary words of exactly this period, rotations counted apart."""
    return 2**period - sum(_primitive_words(q) for q in range(1, period) if period % q == 0)
