r"""One word, every construction: dimension × precision × stability."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import xarray as xr

from ..._precision import double
from .memorize import memorize
from .memory import Memory
from .recall import first_error, noise_tolerance


METHODS = ("shift", "rotation", "harmonic", "rational", "permutation", "tanh")
LARGEST = 256
"""Beyond this many units a construction is left out."""


@dataclasses.dataclass(frozen=True)
class Point:
    """One construction of one word."""

    method: str
    dimension: int
    bits: int
    """Binary places to which the state must be kept for one period to be right."""
    margin: float
    exponent: float
    measured_noise: float
    """The largest perturbation of the state that no drawn direction minds."""
    proved_float32: float
    error_float32: int | None
    error_float64: int | None


def frontier(
    word: str, *, steps: int, directions: int, seed: int = 0, end: bool = False
) -> Iterator[Point | None]:
    """Every construction in turn; None for one that does not serve or is too large to run."""
    for method in METHODS:
        try:
            memory = memorize(word, method=method, end=end)
        except ValueError:
            yield None
            continue
        small = memory.dimension <= LARGEST
        yield point(memory, steps=steps, directions=directions, seed=seed) if small else None


def point(memory: Memory, *, steps: int, directions: int, seed: int = 0) -> Point:
    """The measurements of one memory."""
    labels = memory.word.indices
    with double():
        error64 = first_error(memory.network, labels, steps=steps)
    return Point(
        method=memory.method,
        dimension=memory.dimension,
        bits=bits(memory),
        margin=memory.margin,
        exponent=memory.exponent,
        measured_noise=noise_tolerance(memory.written, labels, seed=seed, directions=directions),
        proved_float32=memory.certificate.steps["float32"],
        error_float32=first_error(memory.network, labels, steps=steps),
        error_float64=error64,
    )


def frontier_table(points: Sequence[Point]) -> xr.Dataset:
    """The same as a dataset along `method`; NaN where nothing went wrong."""
    names = [f.name for f in dataclasses.fields(Point) if f.name != "method"]
    columns = {name: np.array([getattr(p, name) for p in points], dtype=float) for name in names}
    return xr.Dataset(
        {name: ("method", column) for name, column in columns.items()},
        coords={"method": np.array([p.method for p in points], dtype=np.str_)},
    )


def bits(memory: Memory) -> int:
    """The least b such that rounding every state to multiples of $2^{-b}$ keeps one
    period right; the shift map is run in fractions, since floats would not do."""
    network, one, labels = memory.written, 1.0, memory.word.indices
    if memory.method == "shift" and memory.exact is not None:
        exact, one = memory.exact, Fraction(1)
        unit = one / (int(exact.W_h[0, 0]) ** len(labels) - 1)
        scaled = {f: getattr(exact, f) * unit for f in ("b_y", "h_0", "W_x")}
        network = dataclasses.replace(exact, **scaled)
    for step in (one / 2**b for b in range(4096)):
        run = network.run(len(labels), lambda h, step=step: (h + step / 2) // step * step)
        logits = zip(labels, (network.W_y @ h + network.b_y for h, _ in run), strict=True)
        if all((np.delete(y[label] - y, label) > 0).all() for label, y in logits):
            return round(math.log2(1 / step))
    raise AssertionError("4096 places hold any word that is run here")
