r"""Can points be told apart by an argmax of affine functions? Gordan's alternative.

Either there is $u$ with $\langle u_{w_t} - u_k, \phi_t\rangle > 0$ for all $t$ and
$k \ne w_t$, or multipliers $\lambda \ge 0$, not all zero, with
$\sum \lambda_{t,k} (e_{w_t} - e_k) \otimes \phi_t = 0$. One non-negative least squares
problem, $\min_{\lambda \ge 0} |A\lambda|^2 + (1 - \sum\lambda)^2$, gives whichever
exists: its residual is zero, or $u = A\lambda$ separates with the widest margin.
Floating point only guides: either answer is proved afterwards.
"""

import dataclasses
import functools

import numpy as np
from scipy.optimize import linprog, nnls


ROUNDING = 2.0**-53
COARSE = 2.0**-24
BLIND = 1e-8
"""Residuals below this are taken for zero, until a proof says otherwise."""


@dataclasses.dataclass(frozen=True, eq=False)
class Separation:
    """A readout `u` (symbols × features), or the multipliers against one."""

    u: np.ndarray | None
    pairs: tuple[tuple[int, int], ...] = ()
    """The (t, k) with a positive multiplier."""
    multipliers: tuple[float, ...] = ()


def separation(
    labels: tuple[int, ...], phi: np.ndarray, leads: np.ndarray | None = None
) -> Separation:
    """Either side of the alternative, for labels 0 … n - 1 and one column for each;
    `leads`, symbols × symbols, are the leads asked for, in proportion."""
    w = np.asarray(labels)
    n, p = max(labels) + 1, len(labels)
    if n == 1:
        return Separation(np.zeros((1, len(phi))))
    if n == 2:
        # One function is enough: its sign.
        A, t, k = phi * (1.0 - 2.0 * w), np.arange(p), 1 - w
    else:
        t, k, signs = _pairs(labels)
        A = (signs[:, None, :] * phi[:, t]).reshape(n * len(phi), len(t))
        if leads is not None:
            A = A * (leads.mean() / np.maximum(leads[w[t], k], 1e-6 * leads.max()))
    B = np.concatenate([A, np.ones((1, A.shape[1]))])
    goal = np.zeros(len(B))
    goal[-1] = 1.0
    try:
        lam, residual = nnls(B, goal, maxiter=30 * B.shape[1])
    except RuntimeError:
        return _by_program(A, t, k, n)
    if residual < BLIND:
        on = np.flatnonzero(lam > 1e-9 * lam.max())
        pairs = tuple((int(t[i]), int(k[i])) for i in on)
        return Separation(None, pairs, tuple(lam[on].tolist()))
    # At the optimum 1 - sum(lam) is the residual squared, which cancels less.
    u = A @ lam / residual**2
    if not (A.T @ u).min() > 0:
        # The active set stopped short of the optimum, as it may on ties.
        return _by_program(A, t, k, n)
    return Separation(np.stack([u / 2, -u / 2]) if n == 2 else u.reshape(n, len(phi)))


def _by_program(A: np.ndarray, t: np.ndarray, k: np.ndarray, n: int) -> Separation:
    """The same alternative by a linear programming solver, slower and steadier."""
    size, count = A.shape
    found = linprog(
        np.r_[np.zeros(size), -1.0],
        A_ub=np.hstack([-A.T, np.ones((count, 1))]),
        b_ub=np.zeros(count),
        bounds=[(-1, 1)] * size + [(None, 1)],
        method="highs-ds",
    )
    if not found.success:
        return Separation(None)
    if -found.fun > BLIND:
        u = found.x[:-1] / -found.fun
        return Separation(
            np.stack([u / 2, -u / 2]) if n == 2 else u.reshape(n, size // n)
        )
    lam = -found.ineqlin.marginals
    on = np.flatnonzero(lam > 1e-9 * lam.max())
    pairs = tuple((int(t[i]), int(k[i])) for i in on)
    return Separation(None, pairs, tuple(lam[on].tolist()))


@functools.lru_cache(maxsize=64)
def _pairs(labels: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every (t, k) with k not the symbol at t, and what each symbol has to do with it."""
    n, w = max(labels) + 1, np.asarray(labels)
    t, k = np.repeat(np.arange(len(w)), n), np.tile(np.arange(n), len(w))
    t, k = t[k != w[t]], k[k != w[t]]
    symbols = np.arange(n)[:, None]
    return t, k, 1.0 * (w[t] == symbols) - (k == symbols)


def widest(labels: tuple[int, ...], phi: np.ndarray) -> np.ndarray | None:
    r"""A readout whose boundaries stay far from every point, if there is one.

    The lead that pair (w, k) must reach is made proportional to $|u_w - u_k|$ and the
    problem solved again; the constant feature is enlarged, so that the bias is
    nearly free.
    """
    scale = np.ones(len(phi))
    scale[0] = 16.0
    first = separation(labels, phi).u
    if first is None or len(first) == 1:
        return first
    best, room = first, radius(first, labels, phi, COARSE)
    u, weights = first, None
    for _ in range(1 if len(first) == 2 else 6):
        if len(first) > 2:
            weights = np.linalg.norm(u[:, None, 1:] - u[None, :, 1:], axis=2)
        found = separation(labels, phi * scale[:, None], weights).u
        if found is None:
            break
        u = found * scale
        wider = radius(u, labels, phi, COARSE)
        if wider > room and proved_gap(u, labels, phi) > 0:
            best, room = u, wider
    return best


def proved_gap(u: np.ndarray, labels: tuple[int, ...], phi: np.ndarray) -> float:
    """A lower bound, rounding included, on the least lead of the right logit.

    `phi` is within half a unit in the last place of the true features, so each
    logit is within $(m + 2)\\,2^{-53}\\,|u|\\cdot|\\phi|$ of its own, m the number of
    features, to first order; the factor below covers the higher ones.
    """
    if len(u) == 1:
        return float("inf")
    w = np.asarray(labels)
    y = u @ phi
    slack = (len(phi) + 4) * 1.001 * ROUNDING * (np.abs(u) @ np.abs(phi))
    t = np.arange(len(w))
    low = y[w, t] - slack[w, t]
    high = y + slack
    high[w, t] = -np.inf
    return float((low - high.max(axis=0)).min())


def radius(
    u: np.ndarray, labels: tuple[int, ...], phi: np.ndarray, unit: float = 0.0
) -> float:
    """The distance from the walk to the nearest boundary, in the state's 2-norm,
    less what reading it in an arithmetic of that unit may cost."""
    if len(u) == 1:
        return float("inf")
    w = np.asarray(labels)
    y = u @ phi
    t = np.arange(len(w))
    size = len(phi) * unit * np.abs(u).sum(axis=1)
    lead = y[w, t] - y - size[w] - size[:, None]
    apart = np.linalg.norm(u[:, None, 1:] - u[None, :, 1:], axis=2)[:, w]
    lead[w, t] = np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(apart > 0, lead / apart, np.inf).min())
