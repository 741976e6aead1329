r"""Comparison matrices: $|\delta'| \le K |\delta|$ entry by entry, with $K \ge 0$.

From $K v \le \lambda v$, $v > 0$, distances $\max_i |\delta_i| / v_i$ shrink by
$\lambda$. From the left and right Perron vectors $u, v$ the scaling
$S = \mathrm{diag}\sqrt{u/v}$ gives $\|S K S^{-1}\|_2 = \rho(K)$ too, with a smaller
overshoot: Euclidean distances do not pay for the number of units.
"""

import functools

import numpy as np
from jaxtyping import Float

from .metric import Norm, Proof
from .rounding import above, growth_above, perron, power_iteration


Comparison = Float[np.ndarray, "n n"]


def weighted_proof(v: Float[np.ndarray, " n"], *matrices: Comparison) -> Proof:
    """The largest component weighted by `v`; each row obeys one of the matrices."""
    w = v / above(float(np.linalg.norm(v)), len(v) + 2)
    rate = max((growth_above(K, w) for K in matrices), default=0.0)
    return Proof(rate, above(1 / float(w.min()), 1), Norm("maximum", w))


def maximum_proof(*matrices: Comparison) -> Proof:
    """The weights that power iteration finds, on the worse of the rows."""
    largest = functools.reduce(np.maximum, matrices)
    v, _ = perron(largest)
    if len(matrices) > 1:
        floor = 1e-9 * float(largest.max()) / len(v)
        worse = lambda v: np.max([K @ v for K in matrices], axis=0) + floor * v.sum()
        v = power_iteration(worse, v, iterations=2000)
    return weighted_proof(v, *matrices)


def scaled_proof(*matrices: Comparison) -> Proof:
    """The Euclidean distance after a diagonal scaling."""
    K = functools.reduce(np.maximum, matrices)
    v, u = perron(K)
    s = np.sqrt(u / v)
    s = s / s.min()
    A = above(K * s[:, None] / s, 3)
    # For a non-negative A and any w > 0, |A|^2 is at most max (A^T A w)_i / w_i.
    w = v * s
    top = above(A.T @ above(A @ w, len(w)), len(w))
    rate = above(float(np.sqrt(np.max(above(top / w, 1)))), 2)
    return Proof(rate, above(float(s.max()), 2), Norm("ellipsoid", s))
