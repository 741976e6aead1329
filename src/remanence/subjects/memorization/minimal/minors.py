r"""Minors of matrices of polynomials: $\sum_j (-1)^j \det(A_{\hat\jmath})\,a_j = 0$ for the columns of A."""

from collections.abc import Iterable, Sequence

from flint import fmpq, fmpq_mat, fmpz, fmpz_poly


def dot(u: Iterable[fmpz_poly], v: Iterable[fmpz_poly]) -> fmpz_poly:
    """The scalar product."""
    return sum((f * g for f, g in zip(u, v, strict=True)), fmpz_poly([]))


def independent_rows(columns: Sequence[Sequence[fmpz]]) -> list[int]:
    """The first rows, of the matrix with these columns, that are independent."""
    reduced, rank = fmpq_mat([[fmpq(x) for x in column] for column in columns]).rref()
    width = reduced.ncols()
    return [next(j for j in range(width) if reduced[i, j] != 0) for i in range(rank)]


def minors(rows: list[list[fmpz_poly]]) -> list[fmpz_poly]:
    """With alternating signs, the determinants of k × (k + 1) polynomials with one column
    left out: expanded by rows, every set of columns once."""
    width = len(rows) + 1
    below: dict[int, fmpz_poly] = {0: fmpz_poly([1])}
    for row in rows:
        above: dict[int, fmpz_poly] = {}
        for used, minor in below.items():
            for j in range(width):
                if used >> j & 1 or row[j] == 0:
                    continue
                term = row[j] * minor
                if (used >> (j + 1)).bit_count() % 2:
                    term = -term
                key = used | 1 << j
                above[key] = above.get(key, fmpz_poly([])) + term
        below = above
    full = (1 << width) - 1
    return [below.get(full ^ 1 << j, fmpz_poly([])) * (-1 if j % 2 else 1) for j in range(width)]
