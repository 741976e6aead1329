r"""GRU certificates over an invariant box $|h| \le \bar h$.

$h' = (1 - z) n + z h$ is a mixture, and so is its derivative: row by row

$$|\delta h'| \le z|\delta h| + (1 - z)\,\tau'_n\left(\bar r|U_n| + \bar m\,\sigma'_r|U_r|\right)
|\delta h| + \sigma'_z(\bar h + \bar n)|U_z||\delta h|,\qquad \bar m = |U_n|\bar h + |b'_n|,$$

which is linear in $z$: the worse of its two ends bounds every row.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ...cells import GRU
from .gates import candidate, drives, gate, Interval, Units
from .lstm import Compared
from .rounding import above, below, sigmoid_at, tanh_at


class _Opened(NamedTuple):
    """The largest gates, candidates and slopes over a box of states."""

    r: Units
    r_slope: Units
    z_low: Units
    z: Units
    z_slope: Units
    m: Units
    n: Units
    n_slope: Units


def compared_gru(
    cell: GRU, input_bound: float, *, rounds: int = 12
) -> tuple[Compared, Float[np.ndarray, "units units"]]:
    """The box, its comparison matrix at the low end of z, and the one at the high end."""
    W, U, b, inner = _parts(cell)
    N = len(inner)
    h = np.ones(N)
    at = _opened(W, U, b, inner, h, input_bound)
    for _ in range(rounds):
        # The candidates of one box make the next, which lies inside it: since larger
        # boxes have larger candidates, no candidate leaves a box made in this way.
        following = np.minimum(h, at.n)
        shrunk = float(np.max(h - following, initial=0.0))
        h = following
        at = _opened(W, U, b, inner, h, input_bound)
        if shrunk < 1e-9:
            break
    scale = lambda v, A: v[:, None] * np.abs(A)

    def felt(A, own):
        slope = at.n_slope * at.m * at.r_slope
        through = above(scale(slope, A[0]) + scale(at.n_slope * own, A[2]), 8)
        return through, above(scale(at.z_slope * (h + at.n), A[1]), 4)

    ones = np.ones(N)
    shut, open_ = above(ones - at.z_low, 1), above(ones - below(at.z, 1), 1)
    through, by_z = felt(W, at.r)
    low = above(np.diag(at.z_low) + shut[:, None] * through + by_z, 4)
    high = above(np.diag(at.z) + open_[:, None] * through + by_z, 4)
    through_x, by_x = felt(U, ones)
    G = above(shut[:, None] * through_x + by_x, 3)
    n = tanh_at(above(np.abs(b[2]) + sigmoid_at(b[0])[1] * np.abs(inner), 3))[1]
    still = above((ones - sigmoid_at(b[1])[0]) * n, 2)
    at_rest = above(float(np.linalg.norm(still)), N + 2)
    return Compared(h, low, G, at_rest), high


def _parts(cell: GRU):
    W, U = np.asarray(cell.W_h, np.float64), np.asarray(cell.W_x, np.float64)
    N = W.shape[1]
    b = np.zeros(3 * N) if cell.b is None else np.asarray(cell.b, np.float64)
    inner = np.zeros(N) if cell.b_n is None else np.asarray(cell.b_n, np.float64)
    for name, w in (("W_h", W), ("W_x", U), ("b", b), ("b_n", inner)):
        if not np.all(np.isfinite(w)):
            raise ValueError(f"{name} holds values that are not finite numbers")
    return np.split(W, 3), np.split(U, 3), np.split(b, 3), inner


def _opened(W, U, b, inner: Units, h: Units, input_bound: float) -> _Opened:
    _, r, r_slope = gate(drives(W[0], U[0], b[0], h, input_bound))
    z_low, z, z_slope = gate(drives(W[1], U[1], b[1], h, input_bound))
    m = above(np.abs(W[2]) @ h + np.abs(inner), len(h) + 2)
    outside = drives(np.zeros_like(W[2]), U[2], b[2], h, input_bound)
    swing = above(r * m, 1)
    swing = swing + above(outside.size + swing, 1) * 2.0**-52
    n, n_slope = candidate(Interval(outside.lower - swing, outside.upper + swing))
    return _Opened(r, r_slope, z_low, z, z_slope, m, n, n_slope)
