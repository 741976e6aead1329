r"""Steps $m \leftarrow c\nabla + \mu m$, $w \leftarrow w - \eta m$ as one piece of machine code.

The gradients are those of `gram`, by the same products. Under the full mask
everything lies as (languages, words, units); under the diagonal one as (languages,
units, words), so that what is done word by word runs along whole vectors.
"""

import functools

import numpy as np
from jaxtyping import Array, Float

from ..._native import Compiled, Grid, Machine, product, Program, transposed, wordwise
from .language_pairs import Mask
from .pair_gradient import Packed


FACTORS = ("P", "W", "Q")


def _full(program: Program, L: int, D: int, H: int) -> None:
    """`gram.full_gradient`, line by line."""
    n = D * H
    of = lambda name, k=0, size=n: Grid(program.place(name, (k, size)), H)
    gram = functools.partial(of, size=H * H)
    T, minus_T = Grid(program.place("T"), L), Grid(program.place("-T"), L)

    def mixed(out: str, pairs: Grid, a: str, size: int) -> None:
        to, of_all = (Grid(program.place(name), size) for name in (out, a))
        product(program, to, pairs, of_all, rows=L, columns=size, depth=L)

    transposed(program, of("Wt"), of("W"), rows=H, columns=H)
    product(program, of("A"), of("P"), of("W"), rows=L * D, columns=H, depth=H)
    with program.loop(0, L) as l:
        for out, a in (("QQ", of("Q", l)), ("AA", of("A", l))):
            product(program, gram(out, l), a.T, a, rows=H, columns=H, depth=D)
    mixed("TQQ", T, "QQ", H * H)
    mixed("TAA", T.T, "AA", H * H)
    mixed("C", minus_T, "Q", n)
    mixed("gQ", minus_T.T, "A", n)
    with program.loop(0, L) as l:
        for out, a, b in (("C", "A", "TQQ"), ("gQ", "Q", "TAA")):
            product(
                program, of(out, l), of(a, l), gram(b, l),
                rows=D, columns=H, depth=H, start=of(out, l),
            )  # fmt: skip
    product(program, of("gW"), of("P").T, of("C"), rows=H, columns=H, depth=L * D)
    product(program, of("gP"), of("C"), of("Wt"), rows=L * D, columns=H, depth=H)


def _diagonal(program: Program, L: int, D: int, H: int) -> None:
    """`gram.diagonal_gradient`, line by line."""
    of = lambda name, k: Grid(program.place(name, (k, H * D)), D)
    W, gW = (Grid(program.place(name), H) for name in ("W", "gW"))
    # Grids whose entries are vectors of words: (languages, units), and E's pairs.
    spoken = lambda name: Grid(program.place(name), H * D, D)
    E = Grid(program.place("E"), L * D, D)

    with program.loop(0, L) as k:
        product(program, of("A", k), W.T, of("P", k), rows=H, columns=D, depth=H)
    wordwise(
        program, E, spoken("A"), spoken("Q").T, rows=L, columns=L, depth=H, words=D
    )
    with program.loop(0, L * L) as pair:
        taught = program.load(program.place("T", (pair, 1)))

        def missed(word, lanes):
            at = program.place("E", (pair, D), (word, 1))
            y = program.load(at, lanes)
            off = program.build.fadd(y, program.constant(-1.0, lanes))
            masked = program.build.fmul(off, program.spread(taught, lanes))
            program.store(masked, at)

        program.each(D, missed)
    sizes = {"rows": L, "columns": H, "depth": L, "words": D}
    wordwise(program, spoken("C"), E, spoken("Q"), **sizes)
    wordwise(program, spoken("gQ"), E.T, spoken("A"), **sizes)
    program.each(
        H * H,
        lambda index, lanes: program.store(
            program.constant(0.0, lanes), program.place("gW", (index, 1))
        ),
    )
    with program.loop(0, L) as k:
        product(program, of("gP", k), W, of("C", k), rows=H, columns=D, depth=H)
        Ct = Grid(program.place("Ct"), H)
        transposed(program, Ct, of("C", k), rows=H, columns=D)
        product(program, gW, of("P", k), Ct, rows=H, columns=H, depth=D, start=gW)


def _moved(program: Program, factor: str, size: int) -> None:
    """Momentum's two lines for one factor."""

    def lines(index, lanes):
        w, m, g = (program.place(kind + factor, (index, 1)) for kind in ("", "m", "g"))
        number = lambda name: program.spread(program.numbers[name], lanes)
        kept = program.build.fmul(number("momentum"), program.load(m, lanes))
        new = program.fused(number("scale"), program.load(g, lanes), kept)
        program.store(new, m)
        back = program.build.fneg(number("rate"))
        program.store(program.fused(back, new, program.load(w, lanes)), w)

    program.each(size, lines)


@functools.lru_cache(maxsize=32)
def steps_of(
    mask: Mask, L: int, D: int, H: int, *, dtype: str, machine: Machine | None = None
) -> Compiled:
    """The steps for networks of one size, compiled once."""
    n = L * D * H
    sizes = dict(zip(FACTORS, (n, H * H, n), strict=True))
    buffers = {kind + f: size for kind in ("", "m", "g") for f, size in sizes.items()}
    buffers |= {"T": L * L, "A": n, "C": n}
    if mask == "full":
        buffers |= {"-T": L * L, "Wt": H * H}
        buffers |= dict.fromkeys(("QQ", "AA", "TQQ", "TAA"), L * H * H)
    else:
        buffers |= {"E": L * L * D, "Ct": D * H}
    numbers = ("scale", "momentum", "rate")
    program = Program(buffers, numbers, dtype=dtype, machine=machine)
    with program.repeat():
        (_full if mask == "full" else _diagonal)(program, L, D, H)
        for factor, size in sizes.items():
            _moved(program, factor, size)
    return Compiled(program)


def coasted(
    weights: Packed,
    momenta: Packed,
    T: Float[Array | np.ndarray, "lanes outputs inputs"],
    *,
    mask: Mask,
    steps: int,
    scale: Float[Array | np.ndarray, " lanes"],
    momentum: float,
    rate: Float[Array | np.ndarray, " lanes"],
    machine: Machine | None = None,
) -> tuple[Packed, Packed]:
    r"""Weights and momenta of every lane after so many steps.

    `scale` is $c$ and `rate` $\eta$, for each lane its own. A lane whose rate is zero
    stays where it is.
    """
    lanes = [np.array(a) for a in (*weights, *momenta)]
    _, L, D, H = lanes[0].shape
    if mask == "diagonal":
        L, D = D, L
    work = steps_of(mask, L, D, H, dtype=str(lanes[0].dtype), machine=machine)
    names = [kind + factor for kind in ("", "m") for factor in FACTORS]
    # The diagonal mask's (words, languages, units), turned so that words come last.
    there = (0, 1, 2) if mask == "full" else (1, 2, 0)
    told = zip(np.asarray(scale).tolist(), np.asarray(rate).tolist(), strict=True)
    for lane, (c, eta) in enumerate(told):
        if eta == 0.0:
            continue
        memory = work.memory()
        memory["T"][:] = np.ravel(T[lane])
        if mask == "full":
            np.negative(memory["T"], out=memory["-T"])
        for name, a in zip(names, lanes, strict=True):
            one = a[lane] if a.ndim == 3 else a[lane].transpose(there)
            memory[name].reshape(one.shape)[:] = one
        work(memory, steps=steps, scale=c, momentum=momentum, rate=eta)
        for name, a in zip(names, lanes, strict=True):
            one = a[lane] if a.ndim == 3 else a[lane].transpose(there)
            one[:] = memory[name].reshape(one.shape)
    return Packed(*lanes[:3]), Packed(*lanes[3:])
