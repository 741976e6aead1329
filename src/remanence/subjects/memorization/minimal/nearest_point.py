r"""Gordan's alternative in exact arithmetic: the point of $\mathrm{conv}\{v_i\}$ nearest to zero.

Wolfe's algorithm on integer vectors. If that point $x$ is not zero then
$\langle x, v_i\rangle > 0$ for all i; if it is, its corners carry positive weights
with $\sum \lambda_i v_i = 0$. Vectors are asked for one by one, so none but the
few that matter are ever made. It stops at the first $x$ that separates.
"""

import dataclasses
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from flint import fmpq, fmpq_mat, fmpz

from .deadline import Deadline, NEVER


Corner = TypeVar("Corner", bound=Hashable)
Whole = tuple[fmpz, ...]


@dataclasses.dataclass(frozen=True)
class Alternative(Generic[Corner]):
    """`x` separates, or is None and the corners hold zero between them."""

    x: Whole | None
    corners: tuple[Corner, ...]


def alternative(
    begin: list[Corner],
    vector: Callable[[Corner], Whole],
    violated: Callable[[Whole], Corner | None],
    deadline: Deadline = NEVER,
) -> Alternative[Corner]:
    """Either side, from any first corners; `violated` names one with $\\langle x, v\\rangle \\le 0$.
    `TimeoutError` at the deadline."""
    corners, lam, vectors = [begin[0]], [fmpq(1)], [vector(begin[0])]
    rest = begin[1:]
    while True:
        while True:
            deadline.check()
            mu = _balanced(vectors)
            if all(m > 0 for m in mu):
                lam = mu
                break
            step = min(l / (l - m) for l, m in zip(lam, mu, strict=True) if not m > 0)
            lam = [l + step * (m - l) for l, m in zip(lam, mu, strict=True)]
            keep = [i for i, l in enumerate(lam) if l > 0]
            corners = [corners[i] for i in keep]
            vectors = [vectors[i] for i in keep]
            lam = [lam[i] for i in keep]
        x = _primitive(lam, vectors)
        if not any(x):
            return Alternative(None, tuple(corners))
        entering = None
        while rest and entering is None:
            # The corners that were of use a moment ago first.
            guess = rest.pop(0)
            if guess not in corners and not _dot(x, vector(guess)) > 0:
                entering = guess
        if entering is None:
            entering = violated(x)
        if entering is None:
            return Alternative(x, tuple(corners))
        corners.append(entering)
        vectors.append(vector(entering))
        lam.append(fmpq(0))


def _dot(x: Whole, v: Whole) -> fmpz:
    return sum((a * b for a, b in zip(x, v, strict=True)), fmpz(0))


def _balanced(vectors: list[Whole]) -> list[fmpq]:
    """Weights of sum one whose combination is the nearest point of the affine hull."""
    m = len(vectors)
    rows = [
        [fmpq(0), *[fmpq(1)] * m],
        *([fmpq(1), *(fmpq(_dot(v, u)) for u in vectors)] for v in vectors),
    ]
    goal = [[fmpq(1)]] + [[fmpq(0)]] * m
    solved = fmpq_mat(rows).solve(fmpq_mat(goal))
    return [solved[i + 1, 0] for i in range(m)]


def _primitive(lam: list[fmpq], vectors: list[Whole]) -> Whole:
    """A positive multiple of the combination, in small integers."""
    common = fmpz(1)
    for l in lam:
        common = common * l.q // common.gcd(l.q)
    whole = [l.p * (common // l.q) for l in lam]
    x = [
        sum((m * v[r] for m, v in zip(whole, vectors, strict=True)), fmpz(0))
        for r in range(len(vectors[0]))
    ]
    divisor = fmpz(0)
    for entry in x:
        divisor = divisor.gcd(entry)
    return tuple(entry // divisor for entry in x) if divisor > 1 else tuple(x)
