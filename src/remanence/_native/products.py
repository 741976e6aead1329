r"""$o_{ij} = s_{ij} + \sum_k a_{ik} b_{kj}$, a tile of it in registers at a time.

A tile has as many sums as registers allow: they hide the latency of a multiply-add,
and each row and column that is read serves several of them.
"""

import itertools
from collections.abc import Callable

from .program import Grid, Program, Value


def _blocks(count: int, most: int) -> list[tuple[int, int, int]]:
    """`count` in even blocks of at most `most` and one rest: first, last and size of both."""
    even = -(-count // -(-count // most))
    full = count // even * even
    kinds = [(0, full, even), (full, count, count - full)]
    return [kind for kind in kinds if kind[0] < kind[1]]


def product(
    program: Program,
    out: Grid,
    a: Grid,
    b: Grid,
    *,
    rows: int,
    columns: int,
    depth: int,
    start: Grid | None = None,
) -> None:
    """A product of numbers; the columns of `out`, `b` and `start` lie side by side.

    `start` may be `out` itself; `a` and `b` may not.
    """
    for first, last, lanes in program.vectors(columns):
        shifted = lambda g, first=first, lanes=lanes: Grid(
            program.beyond(g.at, (first, 1)), g.down, lanes
        )

        def number(at: Value, lanes=lanes) -> Value:
            return program.spread(program.load(at), lanes)

        _tiles(
            program, shifted(out), a, shifted(b), start and shifted(start), number,
            shape=(rows, (last - first) // lanes, depth), lanes=lanes,
        )  # fmt: skip


def wordwise(
    program: Program,
    out: Grid,
    a: Grid,
    b: Grid,
    *,
    rows: int,
    columns: int,
    depth: int,
    words: int,
) -> None:
    r"""A product of vectors, $o_{ijw} = \sum_k a_{ikw} b_{kjw}$: the words of an entry lie side by side."""

    def part(word: Value, lanes: int) -> None:
        shifted = lambda g: g._replace(at=program.beyond(g.at, (word, 1)))
        _tiles(
            program, shifted(out), shifted(a), shifted(b), None,
            lambda at: program.load(at, lanes),
            shape=(rows, columns, depth), lanes=lanes,
        )  # fmt: skip

    program.each(words, part)


def transposed(
    program: Program, out: Grid, a: Grid, *, rows: int, columns: int
) -> None:
    """$o_{ji} = a_{ij}$; `rows` and `columns` are those of `a`, and rows lie side by side."""
    n = program.lanes
    high, wide = rows // n * n, columns // n * n

    def moved(i: Value, j: Value) -> None:
        value = program.load(program.beyond(a.at, (i, a.down), (j, 1)))
        program.store(value, program.beyond(out.at, (j, out.down), (i, 1)))

    if high and wide:
        with program.loop(0, high, n) as i, program.loop(0, wide, n) as j:
            source = program.beyond(a.at, (i, a.down), (j, 1))
            target = program.beyond(out.at, (j, out.down), (i, 1))
            _square(program, target, out.down, source, a.down)
    for upper, lower, left in ((0, high, wide), (high, rows, 0)):
        if upper < lower and left < columns:
            with program.loop(upper, lower) as i, program.loop(left, columns) as j:
                moved(i, j)


def _square(program: Program, out: Value, out_down: int, a: Value, a_down: int) -> None:
    """The transpose of a square of vectors: pairs of rows exchange ever larger blocks."""
    n = program.lanes
    rows = [program.load(program.beyond(a, (r, a_down)), n) for r in range(n)]
    size = 1
    while size < n:
        from_upper = [j if not j & size else n + j - size for j in range(n)]
        from_lower = [j + size if not j & size else n + j for j in range(n)]
        for r in (r for r in range(n) if not r & size):
            pair = rows[r], rows[r + size]
            rows[r] = program.picked(*pair, from_upper)
            rows[r + size] = program.picked(*pair, from_lower)
        size *= 2
    for r, row in enumerate(rows):
        program.store(row, program.beyond(out, (r, out_down)))


def _tiles(
    program: Program,
    out: Grid,
    a: Grid,
    b: Grid,
    start: Grid | None,
    entry: Callable[[Value], Value],
    *,
    shape: tuple[int, int, int],
    lanes: int,
) -> None:
    rows, columns, depth = shape
    # Sums, a row's vectors and one entry: 25 + 5 + 1 of 32 registers, 12 + 3 + 1 of 16.
    tall, wide = (5, 5) if program.machine.registers == 32 else (4, 3)

    def at(g: Grid, row: Value, column: Value) -> Grid:
        place = program.beyond(g.at, (row, g.down), (column, g.along))
        return g._replace(at=place)

    for left, right, across in _blocks(columns, wide):
        with program.loop(left, right, across) as j:
            for upper, lower, high in _blocks(rows, tall):
                with program.loop(upper, lower, high) as i:
                    begun = start and at(start, i, j)
                    corner = at(out, i, j), at(a, i, 0), at(b, 0, j), begun
                    _tile(program, *corner, entry, (high, across, depth), lanes)


def _tile(
    program: Program,
    out: Grid,
    a: Grid,
    b: Grid,
    start: Grid | None,
    entry: Callable[[Value], Value],
    shape: tuple[int, int, int],
    lanes: int,
) -> None:
    high, across, depth = shape
    build, kind = program.build, program.vector(lanes)

    def at(g: Grid, row: Value, column: Value) -> Value:
        return program.beyond(g.at, (row, g.down), (column, g.along))

    sums = {}
    for r, c in itertools.product(range(high), range(across)):
        # LLVM keeps these in registers: nothing else knows where they are.
        sums[r, c] = program.top.alloca(kind)
        none = program.constant(0.0, lanes)
        begun = none if start is None else program.load(at(start, r, c), lanes)
        build.store(begun, sums[r, c])
    with program.loop(0, depth) as k:
        right = [program.load(at(b, k, c), lanes) for c in range(across)]
        for r in range(high):
            left = entry(at(a, r, k))
            for c in range(across):
                known = build.load(sums[r, c], typ=kind)
                build.store(program.fused(left, right[c], known), sums[r, c])
    for (r, c), place in sums.items():
        program.store(build.load(place, typ=kind), at(out, r, c))
