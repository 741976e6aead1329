r"""Bounds that hold with every rounding counted: $|\mathrm{fl}(x) - x| \le \gamma_n |x|$.

Three tools: upper ends of non-negative sums and products, enclosures of the gates' functions by
ball arithmetic (python-flint), and a proof of positive definiteness: where a floating-point Cholesky
factorisation of $M - sI$ ends, $\lambda_{\min}(M) > s - c$ with $c$ known (Rump, BIT 46, 2006).
"""

from collections.abc import Callable
from typing import Any, TypeVar

import flint
import numpy as np
import scipy.linalg
from jaxtyping import Float


UNIT = 2.0**-53
SMALLEST = 1e-300
"""Above whatever underflow can take away from the sums formed here."""

Matrix = Float[np.ndarray, "rows columns"]
Values = Float[np.ndarray, "..."]
Number = TypeVar("Number", float, np.ndarray)


def exact_weights(name: str, value: Any, shape: tuple[int | None, ...]) -> Values:
    """Stored weights as they are, in float64, which holds them exactly."""
    found = np.asarray(value)
    if np.iscomplexobj(found):
        raise ValueError(f"{name} is complex; a certificate of this cell needs real weights")
    fits = found.ndim == len(shape)
    if not fits or any(n not in (None, m) for n, m in zip(shape, found.shape, strict=True)):
        raise ValueError(f"{name} has shape {found.shape}, where {shape} would do")
    found = found.astype(np.float64)
    if not np.all(np.isfinite(found)):
        raise ValueError(f"{name} holds values that are not finite numbers")
    return found


def above(value: Number, operations: int) -> Number:
    """At least what a non-negative expression of so many roundings is in truth."""
    return value * (1 + 2 * (operations + 2) * UNIT) + operations * SMALLEST


def below(value: Number, operations: int) -> Number:
    """At most what a non-negative expression of so many roundings is in truth."""
    lower = value * (1 - 2 * (operations + 2) * UNIT) - SMALLEST
    return np.maximum(lower, 0.0) if isinstance(lower, np.ndarray) else max(lower, 0.0)


def sigmoid_at(z: Values) -> tuple[Values, Values]:
    r"""Floats below and above $\sigma(z) = 1/(1 + e^{-z})$."""
    return enclose(z, lambda ball: 1 / (1 + (-ball).exp()))


def tanh_at(z: Values) -> tuple[Values, Values]:
    r"""Floats below and above $\tanh z$."""
    return enclose(z, lambda ball: ball.tanh())


def enclose(z: Values, function: Callable[[Any], Any]) -> tuple[Values, Values]:
    """Floats below and above a function of balls, at every number."""
    lower, upper = np.empty(z.shape), np.empty(z.shape)
    for at, value in np.ndenumerate(z):
        ball = function(flint.arb(float(value)))
        # The conversions to float round to nearest, so both ends step outwards.
        lower[at] = np.nextafter(float(ball.lower()), -np.inf)
        upper[at] = np.nextafter(float(ball.upper()), np.inf)
    return lower, upper


def definite(M: Matrix, error: Matrix) -> bool:
    """Whether all symmetric matrices within `error` of `M`, by entry, are proved definite."""
    diagonal = np.diag(M)
    if not (np.all(np.isfinite(M)) and np.all(diagonal > 0)):
        return False
    n = len(M)
    # Scaling by powers of two is exact and makes the bound, which goes by the
    # trace, fit matrices whose rows differ by orders of magnitude.
    scale = np.exp2(-np.round(np.log2(diagonal) / 2))
    M, error = M * scale[:, None] * scale, error * scale[:, None] * scale
    spread = above(float(np.linalg.norm(error)), n * n + 2)
    c = above(4 * (n + 2) * UNIT * float(np.trace(M)), n + 4)
    shift = 2 * (spread + c) + SMALLEST
    try:
        scipy.linalg.cholesky(M - shift * np.eye(n), lower=True)
    except scipy.linalg.LinAlgError:
        return False
    return True


def norm_above(A: Matrix, operations: int = 0) -> float:
    """An upper end of the spectral norm; entries are products of so many rounded factors."""
    if A.size == 0:
        return 0.0
    A = A if A.shape[0] >= A.shape[1] else A.T
    G, size = A.T @ A, np.abs(A)
    n, inner = len(G), len(A)
    error = above(size.T @ size, inner)
    error = 2 * (inner + 2 * operations + 4) * UNIT * error + SMALLEST
    top = max(float(scipy.linalg.eigvalsh(G, subset_by_index=[n - 1, n - 1])[0]), 0.0)
    for slack in (1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2):
        square = top * (1 + slack) + SMALLEST**0.5
        within = error + np.eye(n) * (2 * UNIT * square)
        if definite(square * np.eye(n) - G, within):
            return above(float(np.sqrt(square)), 2)
    return above(float(np.linalg.norm(size)), A.size + 2 * operations + 2)


def input_gains(G: Matrix) -> tuple[float, float]:
    r"""$L_x$ from the largest component of $x$ and from its Euclidean norm."""
    rows = above(np.abs(G).sum(axis=1), G.shape[1])
    euclidean = norm_above(G, 2)
    largest = above(float(np.linalg.norm(rows)), len(rows) + 2)
    return min(largest, above(euclidean * G.shape[1] ** 0.5, 3)), euclidean


def perron(K: Matrix) -> tuple[Values, Values]:
    """Positive right and left vectors of a non-negative matrix, near Perron's."""
    # A little of everything is added so that reducible matrices have them too.
    K = K + (1e-6 * float(K.max(initial=0.0)) / len(K) + SMALLEST**0.5)
    steps = (lambda v: K @ v), (lambda v: K.T @ v)
    right, left = (power_iteration(step, np.ones(len(K)), 3000) for step in steps)
    return right, left


def power_iteration(step: Callable[[Values], Values], v: Values, iterations: int) -> Values:
    """The positive vector that power iteration of a monotone step comes to."""
    for _ in range(iterations):
        w = step(v)
        ratio = w / v
        if ratio.max() - ratio.min() <= 1e-9 * ratio.max():
            break
        # Half a step damps a second eigenvalue on the same circle.
        v = w / w.max() + v / v.max()
        v = np.maximum(v / v.max(), 1e-12)
    return v / v.max()


def growth_above(K: Matrix, v: Values) -> float:
    r"""The least $\lambda$ known to satisfy $K v \le \lambda v$, rounding counted."""
    return float(np.max(above(above(K @ v, len(v)) / v, 1), initial=0.0))
