r"""One word, every construction: dimension × precision × stability, and how long it is right."""

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import equinox as eqx
import numpy as np
import xarray as xr

from ..._precision import double
from ...measure import lyapunov_spectrum
from ...nets import ClosedLoop, Generator
from ...report import Row
from .memorize import memorize
from .memory import Memory
from .written import Labels, Written


METHODS = ("shift", "rotation", "harmonic", "rational", "permutation", "tanh")
LARGEST = 256  # beyond this many units a construction is left out
_emissions = eqx.filter_jit(Generator.emissions)


@dataclasses.dataclass(frozen=True)
class Point:
    """One construction of one word."""

    method: str
    dimension: int
    bits: int  # binary places to which the state must be kept for one period to be right
    margin: float
    exponent: float
    measured_noise: float  # the largest perturbation of the state that no drawn direction minds
    proved_float32: float
    error_float32: int | None
    error_float64: int | None


def frontier(
    word: str, *, steps: int, directions: int, seed: int = 0, end: bool = False
) -> Iterator[Point | None]:
    """Every construction in turn; None for one that does not serve or is too large to run."""
    for method in METHODS:
        memory = None
        with contextlib.suppress(ValueError):
            memory = memorize(word, method=method, end=end)
        if memory is None or memory.dimension > LARGEST:
            yield None
            continue
        labels = memory.word.indices
        noise = noise_tolerance(memory.written, labels, seed=seed, directions=directions)
        with double():
            error64 = first_error(memory.network, labels, steps=steps)
        yield Point(
            method=memory.method,
            dimension=memory.dimension,
            bits=bits(memory),
            margin=memory.margin,
            exponent=memory.exponent,
            measured_noise=noise,
            proved_float32=memory.certificate.steps["float32"],
            error_float32=first_error(memory.network, labels, steps=steps),
            error_float64=error64,
        )


def frontier_table(points: Sequence[Point]) -> xr.Dataset:
    """The same as a dataset along `method`; NaN where nothing went wrong."""
    columns = {f.name: [getattr(p, f.name) for p in points] for f in dataclasses.fields(Point)}
    coords = {"method": np.array(columns.pop("method"), dtype=np.str_)}
    numbers = {name: ("method", np.array(x, dtype=float)) for name, x in columns.items()}
    return xr.Dataset(numbers, coords=coords)


def bits(memory: Memory) -> int:
    """The least b such that rounding every state to multiples of $2^{-b}$ keeps one
    period right; the shift map is run in fractions, since floats would not do."""
    network, one, labels = memory.written, 1.0, memory.word.indices
    if memory.method == "shift" and memory.exact is not None:
        exact, one = memory.exact, Fraction(1)
        unit = one / (int(exact.W_h[0, 0]) ** len(labels) - 1)
        scaled = {f: getattr(exact, f) * unit for f in ("b_y", "h_0", "W_x")}
        network = dataclasses.replace(exact, **scaled)

    def right(step: Any) -> bool:
        run = network.run(len(labels), lambda h: (h + step / 2) // step * step)
        logits = zip(labels, (network.W_y @ h + network.b_y for h, _ in run), strict=True)
        return all((np.delete(y[label] - y, label) > 0).all() for label, y in logits)

    return next(b for b in itertools.count() if right(one / 2**b))


def first_error(network: Generator, labels: Labels, *, steps: int) -> int | None:
    """The first of `steps` steps at which a generator says a wrong symbol, if any, in
    the precision of the scope."""
    wrong = np.asarray(_emissions(network, steps)) != np.resize(np.asarray(labels), steps)
    return int(wrong.argmax()) + 1 if wrong.any() else None


def noise_tolerance(
    written: Written, labels: Labels, *, seed: int, directions: int = 64, periods: int = 3
) -> float:
    """The largest perturbation of a state (2-norm) after which the string is right for `periods`
    periods in every drawn direction: by bisection, at each phase of the word in turn."""
    p, network = len(labels), written.astype(float)
    drawn = np.random.default_rng(seed).normal(size=(written.dimension, directions))
    drawn /= np.linalg.norm(drawn, axis=0)
    phases = np.arange(directions) % p
    orbit = network.orbit(p).T[:, phases]
    wanted = np.asarray(labels)[(phases + np.arange(periods * p)[:, None]) % p]
    low, high = np.zeros(directions), np.full(directions, 4.0)
    for _ in range(30):
        middle = (low + high) / 2
        h, right = orbit + middle * drawn, np.ones(directions, dtype=bool)
        for symbols in wanted:
            said = (network.W_y @ h + network.b_y[:, None]).argmax(axis=0)
            right &= said == symbols
            h = network.step(h, said)
        low, high = np.where(right, middle, low), np.where(right, high, middle)
    return float(low.min())


def cross_rows(word: str) -> list[Row]:
    """The memories in the cross table, measured by the same instruments as every network."""
    found = []
    for method in ("shift", "harmonic", "tanh"):
        memory = memorize(word, method=method)
        p = memory.word.period
        with double():
            net = memory.network
            # Long enough to settle, short enough that the shift map has its digits.
            steps = 12 if method == "shift" else 4 * p
            start = net.cell(net.h_0, net.one_hot(net.first))
            loop = ClosedLoop(net.cell, net.feedback)
            spectrum = lyapunov_spectrum(loop, steps=steps, h0=start, warmup=0)
        largest = float(np.asarray(spectrum.exponents)[0])
        row = Row(
            network=f"{method} memory of “{word}”",
            dimension=memory.dimension,
            largest_exponent=0.0 if abs(largest) < 1e-9 else largest,
            certified_rate={"shift": None, "tanh": math.exp(memory.exponent)}.get(method, 1.0),
            rank=int(np.linalg.matrix_rank(memory.written.W_h)),
            key_frequencies=", ".join(f"{j}/{p}" for j in memory.frequencies),
        )
        found.append(row)
    return found
