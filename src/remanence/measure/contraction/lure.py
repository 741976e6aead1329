r"""Cells with one activation in a linear loop: $h' = R h + \gamma\,\rho(W h + \dots)$.

Two states differ by $\delta$, and after a step by $R\delta + \gamma y$ with
$y_i = d_i (W\delta)_i$ and slopes $a \le d_i \le b$. Linear, Elman and residual
cells are all of this form. The rungs of this file bound
$\max_D \|S (R + \gamma D W) S^{-1}\|_2$ for $S$ the identity or diagonal, and the
comparison matrix $|R + \gamma m W| + \gamma r |W|$, with $m$ and $r$ the middle
and half-width of the slopes. `docs/science/stable_recurrence.md` has the proofs.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.optimize
from jaxtyping import Float

from ...cells import Elman, Linear, Residual
from .rounding import above, growth_above, norm_above, perron
from .slopes import identity, size_of, Slopes, slopes_of


Square = Float[np.ndarray, "units units"]
Weights = Float[np.ndarray, "units units"] | Float[np.ndarray, " units"]


@dataclasses.dataclass(frozen=True)
class Loop:
    """The numbers that a certificate of such a cell depends on, in float64."""

    R: Square
    W: Square
    gamma: float
    slopes: Slopes
    W_x: Float[np.ndarray, "units inputs"]
    b: Float[np.ndarray, " units"]
    activation: Callable

    @property
    def units(self) -> int:
        return len(self.W)

    @property
    def largest_slope(self) -> float:
        return max(abs(self.slopes[0]), abs(self.slopes[1]))


@dataclasses.dataclass(frozen=True)
class Rung:
    """A proved rate with its metric: `kind` says how `weights` measure a gap."""

    rate: float
    overshoot: float
    kind: str
    weights: Weights
    details: dict[str, Any] = dataclasses.field(default_factory=dict)


def loop_of(cell: Linear | Elman | Residual, slopes: Slopes | None) -> Loop:
    """The loop that a cell is."""
    W, W_x = (np.asarray(w, np.float64) for w in (cell.W_h, cell.W_x))
    for name, w in (("W_h", W), ("W_x", W_x)):
        if not np.all(np.isfinite(w)):
            raise ValueError(f"{name} holds values that are not finite numbers")
    N = len(W)
    if isinstance(cell, Linear):
        return Loop(np.zeros((N, N)), W, 1.0, (1.0, 1.0), W_x, np.zeros(N), identity)
    b = np.zeros(N) if cell.b is None else np.asarray(cell.b, np.float64)
    found = slopes_of(cell.activation, slopes)
    if isinstance(cell, Elman):
        return Loop(np.zeros((N, N)), W, 1.0, found, W_x, b, cell.activation)
    R = np.asarray(cell.R, np.float64)
    R = float(R) * np.eye(N) if R.ndim == 0 else R
    return Loop(R, W, float(cell.coupling), found, W_x, b, cell.activation)


def norm_rung(loop: Loop) -> Rung:
    r"""$\|R + \gamma m W\|_2 + |\gamma| r \|W\|_2$, or $\|R\|_2 + |\gamma| s \|W\|_2$."""
    rate = _scaled_norm(loop, np.ones(loop.units))
    return Rung(rate, 1.0, "ellipsoid", np.ones(loop.units))


def infinity_rung(loop: Loop) -> Rung:
    r"""$K v \le \lambda v$ for the comparison matrix: a weighted largest component."""
    K = _comparison(loop)
    v, _ = perron(K)
    rate = growth_above(K, v)
    overshoot = above(float(np.linalg.norm(v) / v.min()), loop.units + 2)
    return Rung(rate, overshoot, "maximum", v / np.linalg.norm(v))


def diagonal_rung(loop: Loop, *, iterations: int = 120) -> Rung:
    r"""The best diagonal $S$ found: $W^T P W \preceq \lambda^2 P$ with $P = S^2$."""
    s = _balanced(loop, iterations)
    s = s / s.min()
    rate = _scaled_norm(loop, s)
    return Rung(rate, above(float(s.max()), 2), "ellipsoid", s)


def _scaled_norm(loop: Loop, s: Float[np.ndarray, " units"]) -> float:
    a, b = loop.slopes
    scaled = lambda A: A * s[:, None] / s
    gamma = abs(loop.gamma)
    W = above(norm_above(scaled(loop.W), 3), 2)
    if not loop.R.any():
        return above(gamma * loop.largest_slope * W, 3)
    crude = above(norm_above(scaled(loop.R), 3) + gamma * loop.largest_slope * W, 4)
    m, r = (a + b) / 2, (b - a) / 2
    middle = loop.R + loop.gamma * m * loop.W
    # The cancellation in the sum is counted through the sizes of its terms.
    lost = np.linalg.norm(scaled(np.abs(loop.R) + gamma * abs(m) * np.abs(loop.W)))
    fine = norm_above(scaled(middle), 3) + 2.0**-50 * float(lost) + gamma * r * W
    return min(crude, above(fine, 6))


def _comparison(loop: Loop) -> Square:
    a, b = loop.slopes
    m, r = (a + b) / 2, (b - a) / 2
    gamma = abs(loop.gamma)
    sizes = np.abs(loop.R) + gamma * abs(m) * np.abs(loop.W)
    middle = np.abs(loop.R + loop.gamma * m * loop.W) + 2.0**-50 * sizes
    return above(middle + gamma * r * np.abs(loop.W), 6)


def _balanced(loop: Loop, iterations: int) -> Float[np.ndarray, " units"]:
    """Descends the softened log norm over diagonal scalings, the logarithms free."""
    a, b = loop.slopes
    m, r = (a + b) / 2, (b - a) / 2
    pairs = [(loop.W, abs(loop.gamma) * loop.largest_slope)]
    if loop.R.any():
        pairs = [(loop.R + loop.gamma * m * loop.W, 1.0), (loop.W, abs(loop.gamma) * r)]

    def height(log_s, softness):
        total, slope = 0.0, np.zeros(loop.units)
        for A, weight in pairs:
            if weight == 0 or not A.any():
                continue
            B = A * np.exp(log_s[:, None] - log_s)
            squares, V = np.linalg.eigh(B.T @ B)
            # Small singular values have no share, and no left vector worth having.
            large = squares > squares[-1] * 1e-3
            squares, V = squares[large], V[:, large]
            level = np.log(squares) / 2
            share = np.exp((level - level[-1]) / softness)
            soft = level[-1] + softness * np.log(share.sum())
            share = share / share.sum()
            value = weight * np.exp(soft)
            total += value
            U = B @ V / np.sqrt(squares)
            slope += value * ((U**2) @ share - (V**2) @ share)
        if total == 0:
            return 0.0, slope
        return float(np.log(total)), slope / total

    log_s = np.zeros(loop.units)
    for softness in (0.1, 0.02, 0.004):
        log_s = scipy.optimize.minimize(
            height,
            log_s,
            args=(softness,),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-7, 7)] * loop.units,
            options={"maxiter": iterations // 3},
        ).x
    return np.exp(log_s)


def gains(loop: Loop) -> tuple[float, float]:
    r"""$L_x$ from the largest component of $x$ and from its Euclidean norm."""
    slope = abs(loop.gamma) * loop.largest_slope
    euclidean = above(slope * norm_above(loop.W_x), 3)
    U = np.abs(loop.W_x) * slope
    each = above(U.sum(axis=1), U.shape[1] + 3)
    rows = above(float(np.linalg.norm(each)), loop.units + 2)
    return min(rows, above(euclidean * U.shape[1] ** 0.5, 3)), euclidean


def at_rest(loop: Loop) -> float:
    r"""An upper end of $\|\phi(0, 0)\|_2 = |\gamma|\,\|\rho(b)\|_2$."""
    # rho is b-Lipschitz with the largest slope; rho(0) is taken at its own value.
    zero = abs(float(np.asarray(loop.activation(jnp.zeros(())))))
    each = zero * (1 + 1e-6) + loop.largest_slope * np.abs(loop.b)
    if (size := size_of(loop.activation)) < np.inf:
        each = np.minimum(each, size)
    total = abs(loop.gamma) * float(np.linalg.norm(each))
    return above(total, 2 * loop.units + 6)


def box_radius(loop: Loop) -> float:
    r"""A radius that the orbit of zero never leaves, from the activation's size alone:
    $\|h\| \le |\gamma| \bar\rho \sqrt N / (1 - \|R\|)$."""
    size = size_of(loop.activation)
    R = norm_above(loop.R) if loop.R.any() else 0.0
    if not (size < np.inf and R < 1):
        return float("inf")
    return above(abs(loop.gamma) * size * loop.units**0.5 / (1 - R), 6)
