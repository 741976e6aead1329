r"""Sign walls foretold from $T$ alone.

While the weights are small $\dot u = Tv$, $\dot v = T^\top u$: the top mode outgrows
the others, and a coordinate that still has the wrong sign when the top mode
saturates is on the wrong side of a wall. The linear phase is solved by the SVD of
$T$, so this needs no training.
"""

import math

import jax.random as jr
import numpy as np
from jaxtyping import Bool, Float

from .._precision import double
from .._types import Key


def _after_linear_phase(
    T: Float[np.ndarray, "n n"], log10_scale: float, draws: int, key: Key
):
    """Directions of u and v, per draw, when the top mode reaches its final size."""
    n = T.shape[0]
    U, S, Vt = np.linalg.svd(T)
    key_u, key_v = jr.split(key)
    with double():
        grow = np.asarray(jr.normal(key_u, (draws, n)))
        shrink = np.asarray(jr.normal(key_v, (draws, n)))
    # The modes a = (u~ + v~)/√2 grow by e^{σ t}, b = (u~ - v~)/√2 shrink by it. The
    # rank-one product that fits T best has the size ⟨T, u*v*ᵀ⟩ / |T ⊙ u*v*ᵀ|².
    top = np.outer(U[:, 0], Vt[0])
    final = math.log((T * top).sum() / (T * top**2).sum()) / 2
    sigma = log10_scale * math.log(10)
    clock = np.maximum(final - sigma - np.log(np.abs(grow[:, :1]) / math.sqrt(2)), 0.0)
    clock = clock / S[0]
    up = grow * np.exp((S - S[0]) * clock)
    down = shrink * np.exp((-S - S[0]) * clock)
    sign = np.sign(U[:, 0].sum() * grow[:, :1])
    return sign * (up + down) @ U.T, sign * (up - down) @ Vt


def wall_probability(
    T: Float[np.ndarray, "n n"], *, log10_scale: float, draws: int = 2_000, key: Key
) -> float:
    r"""The chance that a two-factor toy started at σ meets a sign wall.

    A Monte Carlo over the *starts* of the exact linear phase, not over trainings.
    0 for positive starts; tends to 0 with σ for a connected T, as
    $\sigma^{1-\sigma_2/\sigma_1}$ does.
    """
    u, v = _after_linear_phase(T, log10_scale, draws, key)
    wrong: Bool[np.ndarray, " draws"] = (u <= 0).any(1) | (v <= 0).any(1)
    return float(wrong.mean())


def needed_scale(
    T: Float[np.ndarray, "n n"], contamination: float, *, constant: float = 1.0
) -> float:
    r"""log10 of the σ at which the second mode is down to `contamination`.

    From the law $\epsilon = c\,\sigma^{1-\sigma_2/\sigma_1}$.

    >>> round(needed_scale(np.ones((4, 4)), 0.01), 3)
    -2.0
    """
    S = np.linalg.svd(T, compute_uv=False)
    exponent = 1.0 - S[1] / S[0]
    if exponent < 1e-12:
        return -math.inf
    return math.log10(contamination / constant) / float(exponent)
