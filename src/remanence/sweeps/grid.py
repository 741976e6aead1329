"""A grid of named axes, cut into programs and chunks in a way that only it decides.

Static axes choose the program; the lanes of one program share it and are cut into
chunks of equal size. Batch shape changes bits, so the size of a chunk follows from
the grid alone and never from the machine; the last chunk repeats its last lane.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

import jax
import jax.random as jr
import numpy as np
from jaxtyping import Array, Int, Key, Shaped


Value = bool | int | float | str
_folded = jax.jit(jax.vmap(jr.fold_in, in_axes=(None, 0)))  # not an operation at a time


@dataclasses.dataclass(frozen=True)
class Part:
    """One chunk: which program, and which of its lanes (padding left out)."""

    index: int
    program: int
    start: int
    stop: int

    @property
    def name(self) -> str:
        """What it is called on disk."""
        return f"chunk-{self.index:06d}"

    @property
    def lanes(self) -> int:
        """How many lanes it really holds."""
        return self.stop - self.start


@dataclasses.dataclass(frozen=True)
class Grid:
    """All points of a sweep, in the order of its axes."""

    axes: Mapping[str, tuple[Value, ...]]
    static: tuple[str, ...]
    chunk: int
    seed: int

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(len(values) for values in self.axes.values())

    @property
    def total(self) -> int:
        """How many lanes there are in all."""
        return math.prod(self.shape)

    @property
    def per_program(self) -> int:
        """How many lanes share one program: there is one for each static point."""
        return self.total // math.prod(len(self.axes[name]) for name in self.static)

    @property
    def width(self) -> int:
        """Lanes a chunk: at most `chunk`, evened out so that little is padded."""
        return math.ceil(self.per_program / math.ceil(self.per_program / self.chunk))

    @property
    def parts(self) -> list[Part]:
        """Every chunk of every program."""
        lanes, width = self.per_program, self.width
        starts = itertools.product(range(self.total // lanes), range(0, lanes, width))
        chunks = [(program, at, min(at + width, lanes)) for program, at in starts]
        return [Part(index, *chunk) for index, chunk in enumerate(chunks)]

    def _places(self, program: int, lanes: np.ndarray) -> dict[str, np.ndarray]:
        """Where lanes of a program lie along each axis."""
        order = sorted(self.axes, key=lambda name: name not in self.static)  # static ones first
        sizes = [len(self.axes[name]) for name in order]
        at = np.unravel_index(program * self.per_program + lanes, sizes)
        places = dict(zip(order, at, strict=True))
        return {name: places[name] for name in self.axes}

    def lanes(self, part: Part) -> Int[np.ndarray, " lanes"]:
        """The lanes of a chunk as positions in the whole grid, padding left out."""
        places = self._places(part.program, np.arange(part.start, part.stop))
        return np.ravel_multi_index(tuple(places.values()), self.shape)

    def static_point(self, program: int) -> dict[str, Value]:
        """The Python values that a program is compiled for."""
        places = self._places(program, np.arange(1))
        return {name: self.axes[name][int(places[name][0])] for name in self.static}

    def points(
        self, part: Part
    ) -> tuple[dict[str, Shaped[np.ndarray, " lanes"]], Key[Array, " lanes"]]:
        """The traced values of a chunk's lanes, padded to full width, and their keys."""
        lanes = np.minimum(np.arange(part.start, part.start + self.width), part.stop - 1)
        places = self._places(part.program, lanes)
        at = {name: np.asarray(self.axes[name])[place] for name, place in places.items()}
        # Lanes with one seed draw the same numbers: differences along other axes
        # are then paired.
        draws = at.get("seed", np.ravel_multi_index(tuple(places.values()), self.shape))
        keys = _folded(jr.key(self.seed), draws.astype(np.uint32))
        free = {name: at[name] for name in self.axes if name not in self.static}
        narrow = jax.dtypes.canonicalize_dtype  # to 32 bits, outside a scope of float64
        return {name: a.astype(narrow(a.dtype)) for name, a in free.items()}, keys


def grid(
    axes: Mapping[str, Iterable[Any]], *, static: Iterable[str], chunk: int, seed: int
) -> Grid:
    """A grid of plain Python values."""
    plain, wanted = {}, set(static)
    for name, values in axes.items():
        plain[str(name)] = tuple(np.asarray(value).item() for value in values)
        _check_axis(str(name), plain[str(name)], name in wanted)
    if not plain:
        raise ValueError("a sweep needs at least one axis")
    if chunk < 1:
        raise ValueError(f"chunk must be at least 1, got {chunk}")
    for name in sorted(wanted - plain.keys()):
        raise ValueError(f"static names {name!r}, which is not an axis")
    # In the order of the axes, so that the order in which they were named is no plan.
    return Grid(plain, tuple(name for name in plain if name in wanted), chunk, seed)


def _check_axis(name: str, values: tuple[Any, ...], static: bool) -> None:
    if not values:
        raise ValueError(f"axis {name!r} has no values")
    if len(set(values)) < len(values):
        raise ValueError(f"axis {name!r} holds a value twice")
    for value in values:
        if not isinstance(value, Value):
            raise ValueError(f"axis {name!r} holds {value!r}, not a number or a word")
        if value != value:
            raise ValueError(f"axis {name!r} holds NaN, which no label can be")
        if isinstance(value, str) and not static:
            raise ValueError(f"axis {name!r} holds words, so it must be static")
        if name == "seed" and (type(value) is not int or not 0 <= value < 2**32):
            raise ValueError(f"a seed is a whole number from 0 to 2³²−1, got {value!r}")
        if type(value) is int and not static and not -(2**31) <= value < 2**31:
            raise ValueError(f"axis {name!r} holds {value}, too large to be traced")
