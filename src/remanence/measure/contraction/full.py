r"""The full metric with multipliers: $P \succ 0$ and diagonal $\Lambda \succeq 0$ with

$$\begin{pmatrix} R^T P R - \lambda^2 P - 2ab\,W^T\Lambda W & \gamma R^T P + (a+b) W^T\Lambda \\
\cdot & \gamma^2 P - 2\Lambda \end{pmatrix} \preceq 0.$$

The multipliers say that each $y_i$ lies between $a (W\delta)_i$ and $b (W\delta)_i$.
Eliminating $y$ turns the smallest $\lambda^2$ for a given $(P, \Lambda)$ into the top
eigenvalue of a pencil $(H(P, \Lambda), P)$, which `descended` lowers by a
quasi-Newton method at $O(N^3)$ a step; sublevel sets are convex, so it has no false
bottom. `semidefinite.py` solves the same problem by an interior-point method.
"""

import time

import numpy as np
import scipy.linalg
import scipy.optimize
from jaxtyping import Float

from .lure import diagonal_rung, Loop, Rung, Square
from .rounding import above, definite, norm_above, SMALLEST, UNIT


Multipliers = Float[np.ndarray, " units"]


def full_rung(
    loop: Loop, P: Square, multipliers: Multipliers, details: dict
) -> Rung | None:
    """The smallest rate that our own arithmetic proves for a metric, if one below 2."""
    P = (P + P.T) / 2
    try:
        guess = np.sqrt(max(_top(loop, P, multipliers)[0], 1e-30))
        lowest = float(scipy.linalg.eigvalsh(P, subset_by_index=[0, 0])[0])
    except scipy.linalg.LinAlgError:
        return None
    if not (lowest > 0 and guess < 2):
        return None
    P, multipliers = P / lowest, multipliers / lowest
    for slack in (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
        rate = float(guess * (1 + slack))
        if not proved(loop, P, multipliers, rate):
            continue
        floor, ceiling = _between(P)
        if floor == 0:
            return None
        overshoot = above(float(np.sqrt(ceiling / floor)), 3)
        # Distances at least Euclidean: the smallest eigenvalue of P is made one.
        weights = scipy.linalg.cholesky(P / floor)
        details = {**details, "P": P / floor, "multipliers": multipliers / floor}
        return Rung(rate, overshoot, "ellipsoid", weights, details)
    return None


def proved(loop: Loop, P: Square, multipliers: Multipliers, rate: float) -> bool:
    """Whether the matrix inequality holds for these numbers, every rounding counted."""
    a, b = loop.slopes
    R, W, gamma, n = loop.R, loop.W, loop.gamma, loop.units
    square = rate * rate
    LW = multipliers[:, None] * W
    A = square * P - R.T @ P @ R + 2 * a * b * (W.T @ LW)
    B = -(gamma * (R.T @ P) + (a + b) * LW.T)
    C = 2 * np.diag(multipliers) - gamma**2 * P
    absolute = np.abs
    sizes = [
        square * absolute(P)
        + absolute(R).T @ absolute(P) @ absolute(R)
        + 2 * abs(a * b) * (absolute(W).T @ absolute(LW)),
        abs(gamma) * (absolute(R).T @ absolute(P)) + abs(a + b) * absolute(LW).T,
        2 * np.diag(multipliers) + gamma**2 * absolute(P),
    ]
    M = np.block([[A, B], [B.T, C]])
    M = np.tril(M) + np.tril(M, -1).T
    E = np.block([[sizes[0], sizes[1]], [sizes[1].T, sizes[2]]])
    error = above(np.maximum(E, E.T), 2 * n + 8) * (4 * (n + 6) * UNIT) + SMALLEST
    return bool(np.all(multipliers > 0)) and definite(M, error)


def _between(P: Square) -> tuple[float, float]:
    """Proved bounds on the eigenvalues of `P`, 0 below if none is proved."""
    ceiling = norm_above(P)
    lowest = float(scipy.linalg.eigvalsh(P, subset_by_index=[0, 0])[0])
    for part in (1 - 1e-9, 1 - 1e-6, 1 - 1e-3, 0.5):
        floor = lowest * part
        error = UNIT * (np.abs(np.diag(P)) + floor)
        if definite(P - floor * np.eye(len(P)), np.diag(2 * error)):
            return floor, ceiling
    return 0.0, ceiling


def _top(loop: Loop, P: Square, multipliers: Multipliers):
    """The top eigenvalue of the pencil, with all values, vectors and worst slopes."""
    a, b = loop.slopes
    R, W, gamma = loop.R, loop.W, loop.gamma
    LW = multipliers[:, None] * W
    cross = (a + b) * LW
    if R.any():
        cross = cross + gamma * (P @ R)
    S = 2 * np.diag(multipliers) - gamma**2 * P
    worst = scipy.linalg.cho_solve(scipy.linalg.cho_factor(S), cross)
    H = cross.T @ worst
    if R.any():
        H = H + R.T @ P @ R
    if a * b != 0:
        H = H - 2 * a * b * (W.T @ LW)
    squares, V = scipy.linalg.eigh((H + H.T) / 2, P)
    return float(squares[-1]), squares, V, worst


def descended(
    loop: Loop, *, deadline: float, iterations: int = 400
) -> tuple[Square, Multipliers, dict]:
    """A metric and multipliers that a quasi-Newton descent finds before the deadline."""
    n = loop.units
    d = np.asarray(diagonal_rung(loop, iterations=30).weights) ** 2
    P, multipliers = np.diag(d), d * max(loop.gamma**2, 1e-12)
    lower = np.tril_indices(n)
    off = np.where(lower[0] == lower[1], 1.0, 2.0**0.5)
    best = (np.inf, P, multipliers)
    seen = 0

    for softness in (0.1, 0.03, 0.01, 0.003, 0.001):
        # New coordinates: the metric so far is the identity of the next round.
        L = np.linalg.cholesky(best[1] if np.isfinite(best[0]) else P)
        base = best[2] if np.isfinite(best[0]) else multipliers

        def metric(point, L=L, base=base):
            Y = np.zeros((n, n))
            Y[lower] = point[n:] / off
            Y = Y + np.tril(Y, -1).T
            return L @ (np.eye(n) + Y) @ L.T, base * np.exp(point[:n])

        def height(point, softness=softness, L=L, metric=metric):
            nonlocal best, seen
            if time.monotonic() > deadline:
                raise TimeoutError
            seen += 1
            P, multipliers = metric(point)
            try:
                top, squares, V, worst = _top(loop, P, multipliers)
            except (scipy.linalg.LinAlgError, ValueError):
                return 1e3, np.zeros(len(point))
            if not (top > 0 and np.isfinite(top)):
                return 1e3, np.zeros(len(point))
            if top < best[0]:
                best = (top, P, multipliers)
            level = np.log(np.maximum(squares, top * 1e-12)) / 2
            share = np.exp((level - level[-1]) / softness)
            soft = level[-1] + softness * np.log(share.sum())
            share = share / share.sum() / np.maximum(squares, top * 1e-12) / 2
            q, z = worst @ V, loop.W @ V
            after = loop.R @ V + loop.gamma * q if loop.R.any() else loop.gamma * q
            G = (after * share) @ after.T - (V * share * squares) @ V.T
            G = L.T @ G @ L
            a, b = loop.slopes
            by_slope = -2 * a * b * z * z + 2 * (a + b) * z * q - 2 * q * q
            s = multipliers * (by_slope @ share)
            return soft, np.concatenate([s, G[lower] * off])

        try:
            scipy.optimize.minimize(
                height,
                np.zeros(n + len(off)),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": iterations // 5, "maxcor": 20},
            )
        except TimeoutError:
            break
    details = {"solver": "quasi-Newton descent", "evaluations": seen}
    return best[1], best[2], details
