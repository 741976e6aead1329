"""Products in machine code against integers, whose sums are exact in any order."""

import concurrent.futures
import contextlib
import platform

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from remanence._native import (
    Compiled,
    Grid,
    Machine,
    product,
    Program,
    transposed,
    wordwise,
)
from remanence._native.machine import this_machine


sizes = st.integers(1, 37)


def machine(vector, registers):
    """This processor, as if its vectors were others."""
    return this_machine()._replace(vector=vector, registers=registers)


MACHINES = [machine(*kind) for kind in ((16, 32), (16, 16), (32, 16), (64, 32))]
BARE = this_machine()._replace(name="x86-64", features="", vector=16, registers=16)
"""A processor of 2003: what it does not have is done by a library, to the same bits."""


@contextlib.contextmanager
def fenced(memory):
    """Whatever lies between the buffers must be as it was."""
    room = next(iter(memory.values())).base
    outside = np.full(room.size, fill_value=True)
    for buffer in memory.values():
        first = (buffer.ctypes.data - room.ctypes.data) // room.itemsize
        outside[first : first + buffer.size] = False
    assert outside.sum() >= 90 * len(memory)
    room[outside] = 1e30
    yield
    assert (room[outside] == np.array(1e30, room.dtype)).all()


def multiplied(a, b, start=None, *, turned=False, machine: Machine | None = None):
    """a b + start by a program; `turned`, the left one is given as its transpose."""
    (rows, depth), columns = a.shape, b.shape[1]
    buffers = {"out": rows * columns, "a": a.size, "b": b.size}
    program = Program(buffers, dtype=str(a.dtype), machine=machine)
    out, right = (Grid(program.place(name), columns) for name in ("out", "b"))
    left = (
        Grid(program.place("a"), rows).T if turned else Grid(program.place("a"), depth)
    )
    begun = None if start is None else out
    product(
        program, out, left, right, rows=rows, columns=columns, depth=depth, start=begun
    )
    work = Compiled(program)
    memory = work.memory()
    memory["a"][:] = (a.T if turned else a).ravel()
    memory["b"][:] = b.ravel()
    memory["out"][:] = 7 if start is None else start.ravel()
    with fenced(memory):
        work(memory)
    return memory["out"].reshape(rows, columns)


@settings(max_examples=25, deadline=None)
@given(
    sizes, sizes, sizes, st.booleans(), st.booleans(),
    st.sampled_from(["float32", "float64"]), st.sampled_from(MACHINES),
)  # fmt: skip
def test_products_of_integers_are_exact(
    rows, depth, columns, turned, begun, dtype, machine
):
    rng = np.random.default_rng(rows + 40 * depth + 1600 * columns)
    a, b, s = (
        rng.integers(-9, 10, size=shape).astype(dtype)
        for shape in ((rows, depth), (depth, columns), (rows, columns))
    )
    got = multiplied(a, b, s if begun else None, turned=turned, machine=machine)
    assert (got == a @ b + (s if begun else 0)).all()


def test_a_sum_is_one_chain_in_its_order():
    one_by_one = np.array([[1e8, 1.0, -1e8]], dtype=np.float32)
    assert multiplied(one_by_one, np.ones((3, 1), np.float32)) == 0.0
    assert multiplied(one_by_one[:, [0, 2, 1]], np.ones((3, 1), np.float32)) == 1.0


def test_multiplied_and_added_is_rounded_once():
    a = np.array([[-1.0, 1.0 + 2.0**-12]], dtype=np.float32)
    b = np.array([[1.0], [1.0 + 2.0**-12]], dtype=np.float32)
    assert multiplied(a, b) == np.float32(2.0**-11 + 2.0**-24)
    assert a[0, 1] * b[1, 0] - np.float32(1.0) == np.float32(2.0**-11)  # rounded twice


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_do_not_depend_on_the_width_of_vectors(dtype):
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=shape).astype(dtype) for shape in ((13, 21), (21, 37)))
    first, *others = (multiplied(a, b, machine=machine) for machine in MACHINES)
    assert all((other == first).all() for other in others)
    if platform.machine() in ("x86_64", "AMD64"):
        assert (multiplied(a, b, machine=BARE) == first).all()


def test_a_processor_that_does_not_fuse_rounds_twice():
    a = np.array([[-1.0, 1.0 + 2.0**-12]], dtype=np.float32)
    b = np.array([[1.0], [1.0 + 2.0**-12]], dtype=np.float32)
    old = this_machine()._replace(fused=False)
    assert multiplied(a, b, machine=old) == np.float32(2.0**-11)


def test_other_numbers_are_refused():
    with pytest.raises(ValueError, match="float32 and float64, got float16"):
        Program({"x": 1}, dtype="float16")


@settings(max_examples=10, deadline=None)
@given(sizes, sizes, sizes, sizes, st.sampled_from(MACHINES))
def test_products_word_by_word(rows, depth, columns, words, machine):
    rng = np.random.default_rng(rows + 40 * depth + 1600 * columns)
    a = rng.integers(-9, 10, size=(rows, depth, words)).astype(np.float32)
    b = rng.integers(-9, 10, size=(columns, depth, words)).astype(np.float32)
    buffers = {"out": rows * columns * words, "a": a.size, "b": b.size}
    program = Program(buffers, machine=machine)
    wordwise(
        program,
        Grid(program.place("out"), columns * words, words),
        Grid(program.place("a"), depth * words, words),
        Grid(program.place("b"), depth * words, words).T,
        rows=rows, columns=columns, depth=depth, words=words,
    )  # fmt: skip
    work = Compiled(program)
    memory = work.memory()
    memory["a"][:], memory["b"][:] = a.ravel(), b.ravel()
    with fenced(memory):
        work(memory)
    expected = np.einsum("ikw,jkw->ijw", a, b)
    assert (memory["out"].reshape(expected.shape) == expected).all()


@settings(max_examples=20, deadline=None)
@given(sizes, sizes, st.sampled_from(["float32", "float64"]), st.sampled_from(MACHINES))
def test_transposes_of_any_size(rows, columns, dtype, machine):
    program = Program(
        {"t": rows * columns, "a": rows * columns}, dtype=dtype, machine=machine
    )
    a, t = Grid(program.place("a"), columns), Grid(program.place("t"), rows)
    transposed(program, t, a, rows=rows, columns=columns)
    work = Compiled(program)
    memory = work.memory()
    memory["a"][:] = np.arange(rows * columns)
    with fenced(memory):
        work(memory)
    expected = np.arange(rows * columns).reshape(rows, columns).T
    assert (memory["t"].reshape(expected.shape) == expected).all()


def test_as_many_steps_as_asked():
    program = Program({"count": 1}, ("by",), dtype="float64")
    place = program.place("count")
    with program.repeat():
        more = program.build.fadd(program.load(place), program.numbers["by"])
        program.store(more, place)
    work = Compiled(program)
    memory = work.memory()
    work(memory, steps=5, by=0.5)
    assert memory["count"] == 2.5
    with pytest.raises(ValueError, match="at least one step, got 0"):
        work(memory, steps=0, by=0.5)


def test_threads_with_memories_of_their_own_do_not_meet():
    program = Program({"x": 1}, ("by",), dtype="float64")
    place = program.place("x")
    with program.repeat():
        more = program.build.fadd(program.load(place), program.numbers["by"])
        program.store(more, place)
    work = Compiled(program)

    def counted(by):
        memory = work.memory()
        work(memory, steps=200_000, by=by)
        return float(memory["x"][0])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(counted, [1.0, 2.0, 3.0, 4.0])) == [
            200_000.0 * by for by in (1, 2, 3, 4)
        ]
