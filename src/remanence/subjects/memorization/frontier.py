r"""One word, every construction: dimension × precision × stability."""

import dataclasses
from collections.abc import Iterator, Sequence

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
    period right; the shift map is run in integers, since floats would not do."""
    right = _shift_right_at if memory.method == "shift" else _right_at
    return next(b for b in range(4096) if right(memory, b))


def _right_at(memory: Memory, b: int) -> bool:
    written = memory.written
    round_ = lambda h: np.round(h * 2.0**b) / 2.0**b
    h = round_(written.h_0)
    for label in memory.word.indices:
        h = written.W_h @ h
        h = round_(np.tanh(h) if written.activation == "tanh" else h)
        if int((written.W_y @ h + written.b_y).argmax()) != label:
            return False
    return True


def _shift_right_at(memory: Memory, b: int) -> bool:
    exact, word = memory.exact, memory.word
    assert exact is not None
    base = int(exact.W_h[0, 0])
    unit = base**word.period - 1
    # h_1 in multiples of 2^-b; the map is integer, so it is never rounded again.
    h_1 = base * int(exact.h_0[0]) + int(exact.W_x[0, exact.first])
    h = (2 * h_1 * 2**b + unit) // (2 * unit)
    for label in word.pattern:
        digit = min(max((base * h) >> b, 0), len(word.used) - 1)
        if digit != label:
            return False
        h = base * h - (digit << b)
    return True
