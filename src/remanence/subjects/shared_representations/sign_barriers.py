r"""Sign barriers, and so what will generalise from which $\sigma$, predicted from $T$ alone.

While the weights are small $\dot u = Tv$, $\dot v = T^\top u$: the top mode outgrows the others, and
a coordinate that still has the wrong sign when it saturates is pulled over by its neighbours or
stays behind a barrier, where taught products between pieces of opposite sign go to 0 and never
through it. The linear phase is solved by the SVD of $T$, the pulling by a majority rule.
"""

import math

import equinox as eqx
import jax.random as jr
import numpy as np
from jaxtyping import Float

from ..._types import Key
from .language_pairs import checked_pairs, components, connectivity


Square = Float[np.ndarray, "n n"]
LOWEST = -1e5  # log10 of the smallest σ that is asked: gaps closer to 1 than it resolves count as 1
WITHIN = 0.05


class Prediction(eqx.Module):
    """What a graph of taught pairs says of a two-factor toy before any training."""

    components: int
    longest_path: float  # taught pairs on the longest shortest way; infinite between components
    gap: float
    success: float  # the chance that every pair comes out right from the σ that was asked about
    log10_scale: float  # the largest σ with at least the wanted chance, as in `largest_scale`


def normals(*shape: int, key: Key) -> np.ndarray:
    """Standard normal doubles by NumPy's generator: JAX compiles its own anew for every shape."""
    return np.random.default_rng(np.asarray(jr.key_data(key))).normal(size=shape)


def _after_linear_phase(T: Square, log10_scale: float, draws: int, key: Key):
    """Directions of u and v, per draw, when the top mode reaches its final size."""
    n = T.shape[0]
    U, S, Vt = np.linalg.svd(T)
    key_u, key_v = jr.split(key)
    grow, shrink = normals(draws, n, key=key_u), normals(draws, n, key=key_v)
    # The modes a = (u~ + v~)/√2 grow by e^{σ t}, b = (u~ - v~)/√2 shrink by it. The
    # rank-one product that fits T best has the size ⟨T, u*v*ᵀ⟩ / |T ⊙ u*v*ᵀ|².
    top = np.outer(U[:, 0], Vt[0])
    final = math.log((T * top).sum() / (T * top**2).sum()) / 2
    first = log10_scale * math.log(10) + np.log(np.abs(grow[:, :1]) / math.sqrt(2))
    clock = np.maximum(final - first, 0.0) / S[0]
    up = grow * np.exp((S - S[0]) * clock)
    down = shrink * np.exp((-S - S[0]) * clock)
    sign = np.sign(U[:, 0].sum() * grow[:, :1])
    return sign * (up + down) @ U.T, sign * (up - down) @ Vt


def barrier_probability(T: Square, *, log10_scale: float, draws: int = 2_000, key: Key) -> float:
    r"""The chance that a two-factor toy started at σ meets a sign barrier: a Monte Carlo over the
    *starts* of the exact linear phase, then a majority rule for the signs. Tends to 0 with σ for a
    connected T, as $\sigma^{1-\sigma_2/\sigma_1}$ does."""
    if not math.isfinite(log10_scale):
        raise ValueError(f"log10_scale must be a finite number, got {log10_scale}")
    u, v = _after_linear_phase(T, log10_scale, draws, key)
    size = np.abs(np.concatenate([u, v], axis=1)).mean(axis=1, keepdims=True)
    u, v = u / size, v / size
    # A lone wrong sign among right ones is pulled over; two pieces of opposite sign
    # hold each other at zero. Sizes are cut off at 1, where the true flow saturates.
    for _ in range(4 * T.shape[0]):
        u, v = np.clip(u + v @ T.T, -1, 1), np.clip(v + u @ T, -1, 1)
    rows, columns = T.any(axis=1), T.any(axis=0)
    wrong = np.any(u[:, rows] <= 0, axis=1) | np.any(v[:, columns] <= 0, axis=1)
    return float(np.mean(wrong))


def success_probability(T: Square, *, log10_scale: float, draws: int = 2_000, key: Key) -> float:
    """The chance that a two-factor toy taught `T` from σ gets every pair right: no component meets
    a barrier, and each further one has the sign of the first, half the time, by luck."""
    count, out, into = components(T)
    chance = 0.5 ** (count - 1)
    for piece, piece_key in enumerate(jr.split(key, count)):
        inside = T[np.ix_(out == piece, into == piece)]
        n = max(inside.shape)
        if n > 1:
            # Padded to a square: an empty line has no drive and no say.
            T_n = np.pad(inside, [(0, n - size) for size in inside.shape])
            chance *= 1.0 - barrier_probability(
                T_n, log10_scale=log10_scale, draws=draws, key=piece_key
            )
    return chance


def largest_scale(T: Square, *, wanted: float = 0.9, draws: int = 2_000, key: Key) -> float:
    """log10 of the largest σ, at most 1, with a chance of success of at least `wanted`, by
    bisection with the same starts at every σ; minus infinity where none has it."""
    if not 0.0 < wanted < 1.0:
        raise ValueError(f"wanted must lie between 0 and 1, got {wanted}")
    T = checked_pairs(T)
    enough = lambda x: success_probability(T, log10_scale=x, draws=draws, key=key) >= wanted
    if wanted > 0.5 ** (connectivity(T).components - 1):
        return -math.inf
    if enough(0.0):
        return 0.0
    too_large, small_enough = 0.0, -1.0
    while not enough(small_enough):
        if small_enough < LOWEST:
            return -math.inf
        too_large, small_enough = small_enough, 2.0 * small_enough
    while too_large - small_enough > WITHIN:
        middle = 0.5 * (too_large + small_enough)
        small_enough, too_large = (middle, too_large) if enough(middle) else (small_enough, middle)
    return small_enough


def predict_generalisation(
    T: Square, *, log10_scale: float, wanted: float = 0.9, draws: int = 2_000, key: Key
) -> Prediction:
    """Components, longest path, gap, chance of success, and the σ that would do.

    >>> import jax.random as jr
    >>> islands = predict_generalisation(np.eye(2), log10_scale=-6.0, key=jr.key(0))
    >>> islands.components, islands.success, islands.log10_scale
    (2, 0.5, -inf)
    """
    T = checked_pairs(T)
    graph, options = connectivity(T), {"draws": draws, "key": key}
    return Prediction(
        graph.components,
        float(graph.path_lengths.max()),
        graph.gap,
        success_probability(T, log10_scale=log10_scale, **options),
        largest_scale(T, wanted=wanted, **options),
    )


def needed_scale(T: Square, contamination: float) -> float:
    r"""log10 of the σ at which $\epsilon = \sigma^{1-\sigma_2/\sigma_1}$ is down to `contamination`.

    >>> round(needed_scale(np.ones((4, 4)), 0.01), 3)
    -2.0
    """
    if not 0.0 < contamination < math.inf:
        raise ValueError(f"contamination must be positive, got {contamination}")
    exponent = 1.0 - connectivity(checked_pairs(T)).gap
    return math.log10(contamination) / exponent if exponent > 1e-12 else -math.inf
