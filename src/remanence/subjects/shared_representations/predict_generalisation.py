r"""From $T$ alone: what will generalise, and from which $\sigma$.

Signs are all that can go wrong in the toy of one word on a connected $T$; how likely
they are right at a $\sigma$ is `success_probability`, and it falls as $\sigma$ grows.
"""

import math

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ..._types import Key
from .connectivity import connectivity
from .language_pairs import checked_pairs
from .sign_barriers import success_probability


LOWEST = -1e5
"""log10 of the smallest σ that is asked: gaps closer to 1 than it resolves count as 1."""


class Prediction(eqx.Module):
    """What a graph of taught pairs says of a two-factor toy before any training.

    `success` is the chance that every pair comes out right from the σ that was asked
    about. `log10_scale` is the largest σ (at most 1) from which that chance is at
    least the `wanted` one, and minus infinity where no σ will do.
    """

    components: int
    longest_path: float
    """Taught pairs on the longest shortest way; infinite between components."""
    gap: float
    success: float
    wanted: float
    log10_scale: float


def predict_generalisation(
    T: Float[np.ndarray, "n n"],
    *,
    log10_scale: float,
    wanted: float = 0.9,
    draws: int = 2_000,
    key: Key,
) -> Prediction:
    """Components, longest path, gap, chance of success, and the σ that would do.

    >>> import jax.random as jr
    >>> islands = predict_generalisation(np.eye(2), log10_scale=-6.0, key=jr.key(0))
    >>> islands.components, islands.success, islands.log10_scale
    (2, 0.5, -inf)
    """
    T = checked_pairs(T)
    graph = connectivity(T)
    return Prediction(
        graph.components,
        float(graph.path_lengths.max()),
        graph.gap,
        success_probability(T, log10_scale=log10_scale, draws=draws, key=key),
        wanted,
        largest_scale(T, wanted=wanted, draws=draws, key=key),
    )


def largest_scale(
    T: Float[np.ndarray, "n n"],
    *,
    wanted: float = 0.9,
    draws: int = 2_000,
    key: Key,
    within: float = 0.05,
) -> float:
    """log10 of the largest σ, at most 1, with a chance of success of at least `wanted`.

    By bisection to `within` a decade, with the same starts at every σ; minus infinity
    where components are right together too rarely, whatever the σ.
    """
    if not 0.0 < wanted < 1.0:
        raise ValueError(f"wanted must lie between 0 and 1, got {wanted}")
    if not within > 0.0:
        raise ValueError(f"within must be positive, got {within}")
    T = checked_pairs(T)
    enough = lambda log10_scale: (
        success_probability(T, log10_scale=log10_scale, draws=draws, key=key) >= wanted
    )
    if wanted > 0.5 ** (connectivity(T).components - 1):
        return -math.inf
    if enough(0.0):
        return 0.0
    too_large, small_enough = 0.0, -1.0
    while not enough(small_enough):
        if small_enough < LOWEST:
            return -math.inf
        too_large, small_enough = small_enough, 2.0 * small_enough
    while too_large - small_enough > within:
        middle = 0.5 * (too_large + small_enough)
        hit = enough(middle)
        too_large, small_enough = (too_large, middle) if hit else (middle, small_enough)
    return small_enough
