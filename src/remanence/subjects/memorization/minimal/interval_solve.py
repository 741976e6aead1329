"""Linear systems of balls, solved within a limit in time."""

from flint import arb, arb_mat

from .deadline import Deadline, NEVER


PACE = 1e-10
"""Seconds of elimination for each cubed unknown and bit, roughly."""
QUICK = 0.2
"""Seconds beyond which the solver, which cannot be stopped, is not called."""


def solved(M: list[list[arb]], b: list[arb], bits: int, deadline: Deadline = NEVER) -> list[arb]:
    """x with $M x = b$, enclosed; `ZeroDivisionError` where no pivot is known not to
    vanish, `TimeoutError` at the deadline. Use inside `ctx.workprec(bits)`."""
    seconds = PACE * len(M) ** 3 * bits
    if seconds <= QUICK and deadline.affords(seconds):
        x = arb_mat(M).solve(arb_mat([[entry] for entry in b]))
        return [x[i, 0] for i in range(len(b))]
    return _eliminated([[*row, entry] for row, entry in zip(M, b, strict=True)], deadline)


def _eliminated(rows: list[list[arb]], deadline: Deadline) -> list[arb]:
    """The same by rows, with a look at the clock before each."""
    n = len(rows)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: float(abs(rows[r][i]).lower()))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        top = rows[i]
        if not abs(top[i]) > 0:
            raise ZeroDivisionError
        for row in rows[i + 1 :]:
            deadline.check()
            factor = row[i] / top[i]
            row[i + 1 :] = [a - factor * b for a, b in zip(row[i + 1 :], top[i + 1 :], strict=True)]
    x: list[arb] = []
    for i in reversed(range(n)):
        deadline.check()
        later = sum((a * b for a, b in zip(rows[i][i + 1 : n], x, strict=True)), arb(0))
        x.insert(0, (rows[i][n] - later) / rows[i][i])
    return x
