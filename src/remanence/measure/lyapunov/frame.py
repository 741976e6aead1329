r"""A frame of tangent vectors and its triangular factors.

Any well-conditioned frame will do: if $A = \hat Q U$ with $U$ upper triangular and
$\hat Q = Q T$ with $Q$ orthonormal, the next factor carries $T$ back in, so the sums of
$\log|u_{jj}|$ telescope and only $\log|T_{jj}|$ of the last frame stays. $\hat Q$ is the
unit lower factor of an LU factorisation with partial pivoting, at a fifth of the
price of Householder's QR (Rutishauser's *Treppeniteration*).
"""

import re
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float

from ..._types import Frame, Input, Key, State


class Factors(NamedTuple):
    r"""$A = Q U$ by LU with pivoting."""

    Q: Frame
    """Unit lower up to a permutation of its rows."""
    u: Float[Array, " k"]
    r"""The diagonal, $|u_{jj}|$."""
    row: Float[Array, " k"]
    """The largest entry of the row of $A$ that became the pivot's.

    Rounding disturbs a row by its own size and not by that of the matrix: a step
    that shrinks a unit by 1e-20 leaves its row small, and as well known as the rest.
    """
    lost: Bool[Array, " k"]
    """Where a pivot is 0 because too few rows of $A$ are not: the rank is proved."""


def start_frame(h: State, k: int, *, key: Key) -> Frame:
    """`k` random orthonormal tangent vectors at a state, the same whatever follows them."""
    flat = ravel_pytree(h)[0]
    return jnp.linalg.qr(jr.normal(key, (k, flat.size), flat.dtype).T)[0]


def triangular(A: Frame) -> Factors:
    """The factors of a frame."""
    lu, _, order = jax.lax.linalg.lu(A)
    rows, k = A.shape
    rank = jnp.zeros(rows, order.dtype).at[order].set(jnp.arange(rows, dtype=order.dtype))
    below = rank[:, None] - jnp.arange(k, dtype=order.dtype)[None, :]
    Q = jnp.where(below > 0, lu[rank], (below == 0).astype(A.dtype))
    u = jnp.abs(jnp.diagonal(lu))
    row = jnp.max(jnp.abs(A), axis=1)
    zero = u == 0
    lost = zero & (jnp.sum(zero) + jnp.sum(row > 0) <= k)
    return Factors(Q, u, row[order[:k]], lost)


def log_scale(Q: Frame) -> Float[Array, " k"]:
    r"""$\log|r_{jj}|$ of $Q = \tilde Q R$: how far a frame is from an orthonormal one."""
    return jnp.log(jnp.abs(jnp.diagonal(jnp.linalg.qr(Q, mode="r"))))


SATURATING = {"tanh", "logistic", "exp", "exp2", "expm1", "erf", "erfc"}


def saturates(cell: Any, h: State, x: Input) -> bool:
    """Whether a slope of the cell may round to 0 without being 0.

    Then a Jacobian of too small a rank proves nothing. A ReLU's slope is 0 exactly.
    """
    steps = re.findall(r"= (\w+)", str(jax.make_jaxpr(cell)(h, x)))
    return not SATURATING.isdisjoint(steps)
