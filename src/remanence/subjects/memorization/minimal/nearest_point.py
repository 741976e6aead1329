r"""Gordan's alternative in exact arithmetic: the point of $\mathrm{conv}\{v_i\}$ nearest to zero.

Wolfe's algorithm on integer vectors. If that point $x$ is not zero then
$\langle x, v_i\rangle > 0$ for all i; if it is, its corners carry positive weights
with $\sum \lambda_i v_i = 0$. Vectors are asked for one by one, so none but the
few that matter are ever made. It stops at the first $x$ that separates.
"""

import functools
import math
from collections.abc import Callable, Hashable
from typing import TypeVar

from flint import fmpq, fmpq_mat, fmpz

from .deadline import Deadline, NEVER


Corner = TypeVar("Corner", bound=Hashable)
Whole = tuple[fmpz, ...]


def alternative(
    begin: list[Corner],
    vector: Callable[[Corner], Whole],
    violated: Callable[[Whole], Corner | None],
    deadline: Deadline = NEVER,
) -> tuple[Whole | None, tuple[Corner, ...]]:
    """The x that separates, or None, and the corners that hold it, or zero, between them.

    Any first corners will do; `violated` names one with $\\langle x, v\\rangle \\le 0$.
    `TimeoutError` at the deadline.
    """
    corners, lam, vectors = [begin[0]], [fmpq(1)], [vector(begin[0])]
    rest = begin[1:]
    while True:
        while True:
            deadline.check()
            mu = _nearest_of_hull(vectors)
            if all(m > 0 for m in mu):
                lam = mu
                break
            step = min(l / (l - m) for l, m in zip(lam, mu, strict=True) if not m > 0)
            lam = [l + step * (m - l) for l, m in zip(lam, mu, strict=True)]
            keep = [i for i, l in enumerate(lam) if l > 0]
            corners, lam = [corners[i] for i in keep], [lam[i] for i in keep]
            vectors = [vectors[i] for i in keep]
        x = _primitive(lam, vectors)
        if not any(x):
            return None, tuple(corners)
        # The corners that were of use a moment ago first.
        guesses = (c for c in rest if c not in corners and not _dot(x, vector(c)) > 0)
        entering = next(guesses, None)
        rest = [c for c in rest if c != entering] if entering is not None else []
        entering = violated(x) if entering is None else entering
        if entering is None:
            return x, tuple(corners)
        corners.append(entering)
        vectors.append(vector(entering))
        lam.append(fmpq(0))


def _dot(x: Whole, v: Whole) -> fmpz:
    return sum((a * b for a, b in zip(x, v, strict=True)), fmpz(0))


def _nearest_of_hull(vectors: list[Whole]) -> list[fmpq]:
    """Weights of sum one whose combination is the nearest point of the affine hull."""
    ones, goal = [1] * len(vectors), [[1], *([0] for _ in vectors)]
    rows = [[0, *ones], *([1, *(_dot(v, u) for u in vectors)] for v in vectors)]
    solved = fmpq_mat(rows).solve(fmpq_mat(goal))
    return [solved[i + 1, 0] for i in range(len(vectors))]


def _primitive(lam: list[fmpq], vectors: list[Whole]) -> Whole:
    """A positive multiple of the combination, in small integers."""
    common = math.lcm(*(int(l.q) for l in lam))
    whole = tuple((l * common).p for l in lam)
    x = [_dot(whole, row) for row in zip(*vectors, strict=True)]
    divisor = functools.reduce(lambda a, b: a.gcd(b), x, fmpz(0))
    return tuple(entry // divisor for entry in x) if divisor > 1 else tuple(x)
