r"""Can points be told apart by an argmax of affine functions? Gordan's alternative.

Either there is $u$ with $\langle u_{w_t} - u_k, \phi_t\rangle > 0$ for all $t$ and
$k \ne w_t$, or multipliers $\lambda \ge 0$, not all zero, with
$\sum \lambda_{t,k} (e_{w_t} - e_k) \otimes \phi_t = 0$. One non-negative least squares problem,
$\min_{\lambda \ge 0} |A\lambda|^2 + (1 - \sum\lambda)^2$, gives whichever exists: its residual is zero, or
$u = A\lambda$ separates with the widest margin. Floating point only guides: either answer is proved
afterwards. Every long loop looks at a deadline, and every solver is told it.
"""

import dataclasses
import functools
import math
import time

import numpy as np
from scipy.optimize import linprog, nnls
from scipy.sparse import csr_array, hstack

from ..written import Labels, leads


ROUNDING = 2.0**-53
COARSE = 2.0**-24
BLIND = 1e-8  # residuals below this are taken for zero, until a proof says otherwise
PACE = 2e-8  # seconds of least squares for each pair and squared row, roughly
PROGRAM = 1e-5  # seconds of a linear program for each pair and feature, roughly
SLOW = 1.0  # seconds of least squares beyond which an interior point method is quicker
clock = time.monotonic  # what a deadline looks at; tests put a clock of their own in its place


class Deadline:
    """So many seconds from now."""

    def __init__(self, seconds: float):
        self.end = clock() + seconds

    @property
    def left(self) -> float:
        """Seconds until then, none if it is past."""
        return max(0.0, self.end - clock())

    @property
    def late(self) -> bool:
        return clock() > self.end

    def check(self) -> None:
        """Raise `TimeoutError` if it is past."""
        if self.late:
            raise TimeoutError

    def affords(self, seconds: float) -> bool:
        """Whether a call that cannot be stopped, and takes about so long, may begin:
        guesses are off by factors, so most of what is left is kept back."""
        return 4 * seconds <= self.left


NEVER = Deadline(math.inf)


@dataclasses.dataclass(frozen=True, eq=False)
class Separation:
    """A readout `u` (symbols × features), or the (t, k) whose multipliers are positive."""

    u: np.ndarray | None
    pairs: tuple[tuple[int, int], ...] = ()


def separation(
    labels: Labels,
    phi: np.ndarray,
    asked: np.ndarray | None = None,
    deadline: Deadline = NEVER,
    *,
    vertex: bool = False,
) -> Separation:
    """Either side of the alternative, for labels 0 … n - 1 and one column for each, or neither
    where the time runs out; `asked`, symbols × symbols, are the leads asked for, in proportion.
    With `vertex` by the simplex method, whose multipliers the pairs alone determine."""
    w, n = np.asarray(labels), max(labels) + 1
    if n == 1:
        return Separation(np.zeros((1, len(phi))))
    if deadline.late:
        return Separation(None)
    t, k, signs, scale = _pairs(labels)
    if n > 2 and asked is not None:
        scale = asked.mean() / np.maximum(asked[w[t], k], 1e-6 * asked.max())
    rows = len(phi) * len(signs)
    seconds = PACE * len(t) * rows**2
    columns = (phi if n == 2 else phi[:, t]) * scale

    def by_program(method: str) -> Separation:
        """The same alternative by a linear programming solver, which is told the limit."""
        left = deadline.left
        if PROGRAM * columns.size > left:
            # Told of a limit that passes before it begins, the solver takes none.
            return Separation(None)
        # A row for each pair: the features of its time, for one symbol and against another.
        A = hstack([csr_array((row * columns).T) for row in signs])
        found = linprog(
            np.r_[np.zeros(rows), -1.0],
            A_ub=hstack([-A, csr_array(np.ones((len(t), 1)))]),
            b_ub=np.zeros(len(t)),
            bounds=[(-1, 1)] * rows + [(None, 1)],
            method=method,
            options={"time_limit": min(left, 1e6)},
        )
        if not found.success:
            return Separation(None)
        if -found.fun > BLIND:
            return Separation(_readout(found.x[:-1] / -found.fun, len(phi)))
        return _against(-found.ineqlin.marginals, t, k)

    if vertex:
        return by_program("highs-ds")
    if seconds > SLOW or not deadline.affords(seconds):
        return by_program("highs-ipm")
    system, goal = np.ones((rows + 1, len(t))), np.zeros(rows + 1)
    system[:-1] = A = (signs[:, None, :] * columns).reshape(rows, len(t))
    goal[-1] = 1.0
    try:
        lam, residual = nnls(system, goal, maxiter=30 * len(t))
    except RuntimeError:
        return by_program("highs-ds")
    if residual < BLIND:
        return _against(lam, t, k)
    # At the optimum 1 - sum(lam) is the residual squared, which cancels less.
    u = A @ lam / residual**2
    if not (A.T @ u).min() > 0:
        # The active set stopped short of the optimum, as it may on ties.
        return by_program("highs-ds")
    return Separation(_readout(u, len(phi)))


def _readout(u: np.ndarray, features: int) -> np.ndarray:
    """Symbols × features; one function is half of two opposite ones."""
    return np.stack([u / 2, -u / 2]) if len(u) == features else u.reshape(-1, features)


def _against(lam: np.ndarray, t: np.ndarray, k: np.ndarray) -> Separation:
    on = np.flatnonzero(lam > 1e-9 * lam.max())
    return Separation(None, tuple(zip(t[on].tolist(), k[on].tolist(), strict=True)))


@functools.lru_cache(maxsize=64)
def _pairs(labels: Labels) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every (t, k) with k not the symbol at t, what each symbol has to do with it, and its scale."""
    n, w = max(labels) + 1, np.asarray(labels)
    if n == 2:
        # One function is enough: its sign.
        return np.arange(len(w)), 1 - w, np.ones((1, len(w))), 1.0 - 2.0 * w
    t, k = np.nonzero(w[:, None] != np.arange(n))
    symbols = np.arange(n)[:, None]
    return t, k, 1.0 * (w[t] == symbols) - (k == symbols), np.ones(len(t))


def widest(
    labels: Labels, phi: np.ndarray, first: np.ndarray, deadline: Deadline = NEVER
) -> np.ndarray:
    r"""A readout whose boundaries stay far from every point, from the `first` that is known; at
    the deadline the widest found so far.

    The lead that pair (w, k) must reach is made proportional to $|u_w - u_k|$ and the problem
    solved again; the constant feature is enlarged, so that the bias is nearly free.
    """
    scale = np.ones(len(phi))
    scale[0] = 16.0
    if len(first) == 1:
        return first
    u, best, room, asked = first, first, margin_of(first, labels, phi, COARSE), None
    for _ in range(1 if len(first) == 2 else 6):
        if len(first) > 2:
            asked = np.linalg.norm(u[:, None, 1:] - u[None, :, 1:], axis=2)
        found = separation(labels, phi * scale[:, None], asked, deadline).u
        if found is None:
            break
        u = found * scale
        wider = margin_of(u, labels, phi, COARSE)
        if wider > room and proved_lead(u, labels, phi) > 0:
            best, room = u, wider
    return best


def proved_lead(u: np.ndarray, labels: Labels, phi: np.ndarray) -> float:
    """A lower bound, rounding included, on the least lead of the right logit: `phi` is within half
    a unit in the last place, so each logit within $(m + 2)\\,2^{-53}\\,|u|\\cdot|\\phi|$ of its own, m the
    number of features, to first order; the factor below covers the higher ones."""
    slack = (len(phi) + 4) * 1.001 * ROUNDING * (np.abs(u) @ np.abs(phi))
    slack = slack + slack[list(labels), np.arange(len(labels))]
    return float((leads(u @ phi, labels) - slack).min())


def margin_of(u: np.ndarray, labels: Labels, phi: np.ndarray, unit: float = 0.0) -> float:
    """The distance from the walk to the nearest boundary, in the state's 2-norm,
    less what reading it in an arithmetic of that unit may cost."""
    w, size = list(labels), len(phi) * unit * np.abs(u).sum(axis=1)
    lead = leads(u @ phi, labels) - size[w] - size[:, None]
    apart = np.linalg.norm(u[:, None, 1:] - u[None, :, 1:], axis=2)[:, w]
    with np.errstate(divide="ignore"):
        return float(np.where(apart > 0, lead / apart, np.inf).min())
