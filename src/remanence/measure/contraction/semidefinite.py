r"""The full metric by semidefinite programming: bisection on $\lambda$ with clarabel.

Kept beside the descent of `full.py` as an independent answer for small cells:
about a second at N = 24 and forty at N = 48, for each solve. What it returns is
only a proposal; `full_rung` proves it or drops it.
"""

import time
import warnings

import numpy as np

from .full import Multipliers
from .lure import Loop, Square


def solved(
    loop: Loop, *, lower: float, upper: float, deadline: float, tolerance: float = 1e-3
) -> tuple[Square, Multipliers, dict] | None:
    """A metric for the smallest rate in the interval that the solver reaches in time."""
    import cvxpy as cp

    n = loop.units
    a, b = loop.slopes
    P = cp.Variable((n, n), PSD=True)
    multipliers = cp.Variable(n, nonneg=True)
    square, margin = cp.Parameter(nonneg=True), cp.Variable()
    L = cp.diag(multipliers)
    cross = loop.gamma * (loop.R.T @ P) + (a + b) * (loop.W.T @ L)
    corner = loop.R.T @ P @ loop.R - 2 * a * b * (loop.W.T @ L @ loop.W)
    M = cp.bmat([[square * P - corner, -cross], [-cross.T, 2 * L - loop.gamma**2 * P]])
    size = np.eye(n)
    problem = cp.Problem(
        cp.Maximize(margin),
        [
            (M + M.T) / 2 >> margin * np.eye(2 * n),
            P >> margin * size,
            cp.trace(P) == n,  # pyright: ignore[reportArgumentType]
        ],
    )
    best, solves = None, 0
    while upper - lower > tolerance * upper and time.monotonic() < deadline:
        rate = (lower + upper) / 2
        square.value = rate**2
        left = max(deadline - time.monotonic(), 0.1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem.solve(solver=cp.CLARABEL, time_limit=left)
            solves += 1
        except cp.SolverError:
            break
        if margin.value is not None and float(margin.value) > 1e-9:
            upper = rate
            best = (np.asarray(P.value), np.asarray(multipliers.value))
        elif margin.value is None:
            break
        else:
            lower = rate
    if best is None:
        return None
    details = {"solver": "clarabel", "solves": solves, "gap": upper - lower}
    return best[0], best[1] + 1e-12, details
