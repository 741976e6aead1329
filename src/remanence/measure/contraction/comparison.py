r"""Comparison matrices: $|\delta'| \le K |\delta|$ entry by entry, with $K \ge 0$.

From $K v \le \lambda v$, $v > 0$, distances $\max_i |\delta_i| / v_i$ shrink by
$\lambda$. From the left and right Perron vectors $u, v$ the scaling
$S = \mathrm{diag}\sqrt{u/v}$ gives $\|S K S^{-1}\|_2 = \rho(K)$ too, with a smaller
overshoot: Euclidean distances do not pay for the number of units.
"""

import numpy as np
from jaxtyping import Float

from .lure import Rung
from .rounding import above, grown, growth_above, perron


def maximum_rung(
    K: Float[np.ndarray, "n n"], other: Float[np.ndarray, "n n"] | None = None
) -> Rung:
    """The weighted largest component; with `other`, every row is the worse of two."""
    v, _ = perron(K if other is None else np.maximum(K, other))
    if other is not None:
        v = _worse(K, other, v)
    rate = growth_above(K, v)
    if other is not None:
        rate = max(rate, growth_above(other, v))
    overshoot = above(float(np.linalg.norm(v) / v.min()), len(v) + 2)
    return Rung(rate, overshoot, "maximum", v / np.linalg.norm(v))


def scaled_rung(K: Float[np.ndarray, "n n"]) -> Rung:
    """The Euclidean distance after a diagonal scaling."""
    v, u = perron(K)
    s = np.sqrt(u / v)
    s = s / s.min()
    A = above(K * s[:, None] / s, 3)
    # For a non-negative A and any w > 0, |A|^2 is at most max (A^T A w)_i / w_i.
    w = v * s
    top = above(A.T @ above(A @ w, len(w)), len(w))
    rate = above(float(np.sqrt(np.max(above(top / w, 1)))), 2)
    return Rung(rate, above(float(s.max()), 2), "ellipsoid", s)


def _worse(K, other, v):
    """Power iteration on the larger of two rows: the common vector of both."""
    floor = 1e-9 * max(float(K.max()), float(other.max())) / len(v)
    return grown(
        lambda v: np.maximum(K @ v, other @ v) + floor * v.sum(), v, iterations=2000
    )
