"""A program is written line by line: buffers, loops, and numbers or vectors between them."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from .machine import Machine, this_machine


Value = Any
"""A number that is known when the program runs: LLVM's, of which Python has no types."""
WHOLE, SHORT = ir.IntType(64), ir.IntType(32)
SCALARS = {"float32": ir.FloatType(), "float64": ir.DoubleType()}
APART = 96
"""Numbers between two buffers: if they lay a multiple of 4096 bytes apart, as matrices of
32 x 32 do, they would take each other's places in the cache."""


class Grid(NamedTuple):
    """Numbers in memory: where the first is, how far down and how far along the next are."""

    at: Value
    down: int
    along: int = 1

    @property
    def T(self) -> "Grid":
        """The same numbers, rows as columns."""
        return Grid(self.at, self.along, self.down)


def whole(value: Value) -> Value:
    """A whole number of Python's as one of the program's."""
    return ir.Constant(WHOLE, value) if isinstance(value, int) else value


class Program:
    """Arithmetic on named buffers, for `Compiled` to make machine code of.

    `buffers` tells their sizes, `numbers` names the scalars that a call is given. What is
    written inside `repeat` happens as often as a call asks for.
    """

    def __init__(
        self,
        buffers: Mapping[str, int],
        numbers: tuple[str, ...] = (),
        *,
        dtype: str = "float32",
        machine: Machine | None = None,
    ):
        if dtype not in SCALARS:
            raise ValueError(f"programs know float32 and float64, got {dtype}")
        self.machine, self.dtype = machine or this_machine(), np.dtype(dtype)
        self.scalar = SCALARS[dtype]
        self.lanes = self.machine.vector // self.dtype.itemsize
        self.buffers, self.starts, self.length = dict(buffers), {}, 0
        for name, size in buffers.items():
            self.starts[name] = self.length
            self.length += size + APART
        self.module = ir.Module("remanence")
        kinds = [ir.PointerType(), WHOLE, *[self.scalar] * len(numbers)]
        function = ir.Function(
            self.module, ir.FunctionType(ir.VoidType(), kinds), "program"
        )
        self.memory, self.steps, *told = function.args
        self.numbers = dict(zip(numbers, told, strict=True))
        self.top = ir.IRBuilder(function.append_basic_block("top"))
        self.build = ir.IRBuilder(function.append_basic_block("body"))
        self.body = self.build.block

    def finished(self) -> str:
        """The program as LLVM reads it; nothing can be added any more."""
        self.build.ret_void()
        self.top.branch(self.body)
        return str(self.module)

    @contextlib.contextmanager
    def loop(self, first: int, last: Value, step: int = 1) -> Iterator[Value]:
        """What is written inside happens for `first`, `first + step`, … below `last`."""
        build, before = self.build, self.build.block
        inside = build.append_basic_block("loop")
        build.branch(inside)
        build.position_at_end(inside)
        index = build.phi(WHOLE)
        index.add_incoming(whole(first), before)
        yield index
        following = build.add(index, whole(step))
        index.add_incoming(following, build.block)
        after = build.append_basic_block("after")
        again = build.icmp_signed("<", following, whole(last))
        build.cbranch(again, inside, after)
        build.position_at_end(after)

    def repeat(self) -> contextlib.AbstractContextManager[Value]:
        """A step, as often as the call asks for."""
        return self.loop(0, self.steps)

    def each(self, size: int, body: Callable[[Value, int], None]) -> None:
        """`body(index, lanes)` for a run of numbers, a vector at a time."""
        for first, last, lanes in self.vectors(size):
            with self.loop(first, last, lanes) as index:
                body(index, lanes)

    def vectors(self, count: int) -> list[tuple[int, int, int]]:
        """A run of numbers in whole vectors and one rest: first, last and lanes of both."""
        full = count // self.lanes * self.lanes
        kinds = [(0, full, self.lanes), (full, count, count - full)]
        return [kind for kind in kinds if kind[0] < kind[1]]

    def place(self, buffer: str, *steps: tuple[Value, int]) -> Value:
        """Where something lies in a buffer, so many times so far from its beginning."""
        return self.beyond(whole(self.starts[buffer]), *steps)

    def beyond(self, at: Value, *steps: tuple[Value, int]) -> Value:
        """A place so many times so far from another."""
        for count, stride in steps:
            at = self.build.add(at, self.build.mul(whole(count), whole(stride)))
        return at

    def load(self, at: Value, lanes: int | None = None) -> Value:
        """One number, or a vector of them."""
        kind = self.scalar if lanes is None else self.vector(lanes)
        where = self.build.gep(self.memory, [at], source_etype=self.scalar)
        return self.build.load(where, typ=kind, align=self.dtype.itemsize)

    def store(self, value: Value, at: Value) -> None:
        """Write a number or a vector down."""
        where = self.build.gep(self.memory, [at], source_etype=self.scalar)
        self.build.store(value, where, align=self.dtype.itemsize)

    def vector(self, lanes: int) -> ir.VectorType:
        """The kind of so many numbers side by side."""
        return ir.VectorType(self.scalar, lanes)

    def constant(self, value: float, lanes: int) -> Value:
        """A number that is known now, in every place of a vector."""
        return ir.Constant(self.vector(lanes), [value] * lanes)

    def spread(self, value: Value, lanes: int) -> Value:
        """A number of the program's in every place of a vector."""
        nothing = ir.Constant(self.vector(lanes), ir.Undefined)
        first = self.build.insert_element(nothing, value, ir.Constant(SHORT, 0))
        return self.picked(first, nothing, [0] * lanes)

    def picked(self, x: Value, y: Value, places: Sequence[int]) -> Value:
        """A vector of the numbers at these places of two, one after the other."""
        chosen = ir.Constant(ir.VectorType(SHORT, len(places)), list(places))
        return self.build.shuffle_vector(x, y, chosen)

    def fused(self, x: Value, y: Value, z: Value) -> Value:
        """x y + z of vectors, rounded once; twice where the processor cannot do it at once."""
        if not self.machine.fused:
            return self.build.fadd(self.build.fmul(x, y), z)
        kind = x.type
        name = f"llvm.fma.v{kind.count}f{8 * self.dtype.itemsize}"
        known = self.module.globals.get(name)
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(kind, [kind] * 3), name)
        return self.build.call(known, [x, y, z])
