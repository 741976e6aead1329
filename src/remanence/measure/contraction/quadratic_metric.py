r"""Metrics $\delta^T P \delta$ with multipliers: $P \succ 0$ and diagonal $\Lambda \succeq 0$ with

$$\begin{pmatrix} R^T P R - \lambda^2 P - 2ab\,W^T\Lambda W & \gamma R^T P + (a+b) W^T\Lambda \\
\cdot & \gamma^2 P - 2\Lambda \end{pmatrix} \preceq 0.$$

The multipliers say that each $y_i$ lies between $a (W\delta)_i$ and $b (W\delta)_i$.
Without $y$ the smallest $\lambda^2$ for a given $(P, \Lambda)$ is the top eigenvalue of a pencil
$(H(P, \Lambda), P)$, which `descend` lowers by a quasi-Newton method at $O(N^3)$ a step, over diagonal
or all $P$; sublevel sets are convex, so it has no false bottom. `inequality_holds` confirms or drops
what it finds.
"""

import dataclasses
import time
import warnings

import numpy as np
import scipy.linalg
from jaxtyping import Float

from .loop import Loop, Square
from .metric import Norm, Proof
from .rounding import above, definite, norm_above, SMALLEST, UNIT


Multipliers = Float[np.ndarray, " units"]


def quadratic_proof(loop: Loop, *, full: bool, deadline: float) -> Proof | None:
    """The proof in the diagonal or full metric that the descent finds in time."""
    P, multipliers = descend(loop, full=full, deadline=deadline)
    proof = verified_proof(loop, P, multipliers)
    if proof is None or full:
        return proof
    return proof._replace(norm=Norm("ellipsoid", np.diag(proof.norm.weights)))


def lyapunov_proof(loop: Loop) -> Proof | None:
    r"""The proof of a linear map of spectral radius below 1.

    $W^T P W - \lambda^2 P = -\lambda^2 I$ has a $P \succ 0$ for every $\lambda > \rho(W)$. Rates
    near the radius cost overshoot: the one is taken that shrinks a gap a millionfold soonest.
    """
    coupled = loop.gamma * loop.slopes[1] * loop.W
    W = loop.R + coupled
    # The sum is rounded, and its terms may cancel: what is lost goes by their sizes.
    size = np.abs(loop.R) + np.abs(coupled)
    linear = dataclasses.replace(loop, R=W, R_size=size, W=0 * W, gamma=0.0)
    radius = float(np.max(np.abs(np.linalg.eigvals(W)), initial=0.0))
    found = []
    for part in (1e-6, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.6) if radius < 1 else ():
        rate = radius + part * (1 - radius)
        try:
            with warnings.catch_warnings():
                # Near the radius the equation is nearly singular; the proof decides.
                warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
                P = scipy.linalg.solve_discrete_lyapunov(W.T / rate, np.eye(len(W)))
        except (scipy.linalg.LinAlgError, ValueError):
            continue
        proof = verified_proof(linear, P, np.ones(len(W)))
        if proof is not None and proof.rate < 1:
            found.append(proof)
    return min(found, key=lambda proof: proof.patience, default=None)


def verified_proof(loop: Loop, P: Square, multipliers: Multipliers) -> Proof | None:
    """The smallest rate that our own arithmetic proves for a metric, if it proves one."""
    P = (P + P.T) / 2
    try:
        guess = np.sqrt(max(_pencil(loop, P, multipliers)[0][-1], 1e-30))
        lowest = float(scipy.linalg.eigvalsh(P, subset_by_index=[0, 0])[0])
    except scipy.linalg.LinAlgError:
        return None
    for part in (1 - 1e-9, 1 - 1e-6, 1 - 1e-3, 0.5):
        # Distances at least Euclidean: the smallest eigenvalue of Q is proved above one.
        Q, scaled = P / (lowest * part), multipliers / (lowest * part)
        error = 2 * UNIT * np.diag(np.abs(np.diag(Q)) + 1)
        if lowest > 0 and definite(Q - np.eye(len(Q)), error):
            break
    else:
        return None
    for slack in (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
        rate = float(guess * (1 + slack))
        if inequality_holds(loop, Q, scaled, rate):
            overshoot = above(float(np.sqrt(norm_above(Q))), 3)
            norm = Norm("ellipsoid", scipy.linalg.cholesky(Q))
            return Proof(rate, overshoot, norm, {"P": Q, "multipliers": scaled})
    return None


def inequality_holds(loop: Loop, P: Square, multipliers: Multipliers, rate: float) -> bool:
    """Whether the matrix inequality holds for these numbers, every rounding counted."""
    a, b = loop.slopes
    R, W, gamma, n = loop.R, loop.W, loop.gamma, loop.units
    square = rate * rate
    LW = multipliers[:, None] * W
    A = square * P - R.T @ P @ R + 2 * a * b * (W.T @ LW)
    B = -(gamma * (R.T @ P) + (a + b) * LW.T)
    C = 2 * np.diag(multipliers) - gamma**2 * P
    P_size, R_size, LW_size = np.abs(P), loop.R_size, np.abs(LW)
    A_size = square * P_size + R_size.T @ P_size @ R_size
    A_size = A_size + 2 * abs(a * b) * (np.abs(W).T @ LW_size)
    B_size = abs(gamma) * (R_size.T @ P_size) + abs(a + b) * LW_size.T
    C_size = 2 * np.diag(multipliers) + gamma**2 * P_size
    M = np.block([[A, B], [B.T, C]])
    M = np.tril(M) + np.tril(M, -1).T
    E = np.block([[A_size, B_size], [B_size.T, C_size]])
    error = above(np.maximum(E, E.T), 2 * n + 8) * (4 * (n + 6) * UNIT) + SMALLEST
    return bool(np.all(multipliers > 0)) and definite(M, error)


def _pencil(loop: Loop, P: Square, multipliers: Multipliers):
    """The eigenvalues of the pencil, the vectors, and the worst y for each of them."""
    a, b = loop.slopes
    R, W, gamma = loop.R, loop.W, loop.gamma
    LW = multipliers[:, None] * W
    # Products with nothing are left out: they would cost a sixth of the descent.
    cross = (a + b) * LW + (gamma * (P @ R) if R.any() else 0.0)
    S = 2 * np.diag(multipliers) - gamma**2 * P
    worst = scipy.linalg.cho_solve(scipy.linalg.cho_factor(S), cross)
    H = cross.T @ worst - (2 * a * b * (W.T @ LW) if a * b else 0.0)
    H = H + R.T @ P @ R if R.any() else H
    squares, V = scipy.linalg.eigh((H + H.T) / 2, P)
    return squares, V, worst @ V


def descend(loop: Loop, *, full: bool, deadline: float) -> tuple[Square, Multipliers]:
    """A metric and multipliers that a quasi-Newton descent finds before the deadline."""
    from scipy.optimize import minimize  # a fifth of a second

    n = loop.units
    a, b = loop.slopes
    best = (np.inf, np.eye(n), np.full(n, max(loop.gamma**2, 1e-12)))
    diagonal, lower = np.diag_indices(n), np.tril_indices(n)
    stages = [(diagonal, 50, softness) for softness in (0.1, 0.02, 0.004)]
    if full:
        stages = [(diagonal, 30, 0.02)]
        stages += [(lower, 80, s) for s in (0.1, 0.03, 0.01, 0.003, 0.001)]
    for entries, iterations, softness in stages:
        # New coordinates: the metric so far is the identity of the next round.
        L, base = np.linalg.cholesky(best[1]), best[2]
        off = np.where(entries[0] == entries[1], 1.0, 2.0**0.5)

        def height(point, entries=entries, softness=softness, L=L, base=base, off=off):
            nonlocal best
            if time.monotonic() > deadline:
                raise TimeoutError
            Y = np.zeros((n, n))
            Y[entries] = point[n:] / off
            P = L @ (np.eye(n) + Y + np.tril(Y, -1).T) @ L.T
            multipliers = base * np.exp(point[:n])
            try:
                squares, V, q = _pencil(loop, P, multipliers)
            except (scipy.linalg.LinAlgError, ValueError):
                return 1e3, np.zeros(len(point))
            top = squares[-1]
            if not (top > 0 and np.isfinite(top)):
                return 1e3, np.zeros(len(point))
            if top < best[0]:
                best = (top, P, multipliers)
            level = np.log(np.maximum(squares, top * 1e-12)) / 2
            share = np.exp((level - level[-1]) / softness)
            soft = level[-1] + softness * np.log(share.sum())
            share = share / share.sum() / np.maximum(squares, top * 1e-12) / 2
            after, z = loop.gamma * q, loop.W @ V
            after = loop.R @ V + after if loop.R.any() else after
            G = L.T @ ((after * share) @ after.T - (V * share * squares) @ V.T) @ L
            by_slope = -2 * a * b * z * z + 2 * (a + b) * z * q - 2 * q * q
            slope = multipliers * (by_slope @ share)
            return soft, np.concatenate([slope, G[entries] * off])

        options = {"maxiter": iterations, "maxcor": 20}
        try:
            minimize(height, np.zeros(n + len(off)), jac=True, method="L-BFGS-B", options=options)
        except TimeoutError:
            break
    return best[1], best[2]
