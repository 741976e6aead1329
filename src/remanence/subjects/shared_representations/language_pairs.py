r"""Which pairs of languages are taught: a binary matrix $T_{kl}$, output $k$, input $l$.

The target of every pair is the same word, $\Pi_k \Pi_l^\top$; the mask that is
taught is $T \otimes J_D$ (`full`) or only its target entries (`diagonal`).
"""

import math
from typing import Literal

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from ..._types import Key


Mask = Literal["full", "diagonal"]
Pairs = Float[np.ndarray, "outputs inputs"]


def checked_pairs(T: ArrayLike) -> Pairs:
    """`T` itself, if it is a square 0/1 matrix without an empty row or column.

    A language that is never an output (or input) keeps its random weights for ever.
    """
    T = np.asarray(T, dtype=float)
    if T.ndim != 2 or T.shape[0] != T.shape[1]:
        raise ValueError(f"T must be square, got shape {T.shape}")
    if not np.isin(T, (0.0, 1.0)).all():
        raise ValueError("T must hold only zeros and ones")
    for axis, role, line in ((1, "output", "row"), (0, "input", "column")):
        for empty in np.flatnonzero(T.sum(axis=axis) == 0):
            raise ValueError(
                f"language {empty} is never taught as an {role}: {line} {empty} of T is empty"
            )
    return T


def pair_count(languages: int, fraction: float) -> int:
    """How many of the $L^2$ pairs a fraction means, as the document counts them."""
    if not fraction <= 1.0:
        raise ValueError(f"fraction must not exceed 1, got {fraction}")
    pairs = languages * languages * fraction
    # Exactly L/L² may come out a rounding below L; elsewhere the document cuts.
    count = languages if math.isclose(pairs, languages) else int(pairs)
    if count < languages:
        raise ValueError(
            f"fraction must be at least L/L² = {1 / languages:g} so that every "
            f"language is taught, got {fraction}"
        )
    return count


def published_pairs(
    fraction: float, *, seed: int, languages: int = 10
) -> Float[np.ndarray, "outputs inputs"]:
    """The document's own draw of `T`: its diagonal and some other pairs.

    The same seed gives nested matrices: one permutation of the off-diagonal pairs
    is cut at different lengths. The draw predates JAX's present default for
    splitting keys, so that switch is set for its duration.

    >>> int(published_pairs(0.401, seed=0).sum())
    40
    """
    L = languages
    taught = pair_count(L, fraction) - L
    with jax.threefry_partitionable(False):
        pairs_key, *_ = jr.split(jr.PRNGKey(seed), 3)
        flags = (jnp.arange(L * L - L) < taught).astype(jnp.float32)
        rows = np.asarray(jr.permutation(pairs_key, flags)).reshape(L, L - 1)
    rows = np.concatenate([np.ones((L, 1)), rows], axis=1)
    return np.stack([np.roll(row, shift) for shift, row in enumerate(rows)])


def nested_pairs(
    languages: int, fraction: float, *, key: Key, diagonal: bool = True
) -> Float[np.ndarray, "outputs inputs"]:
    """Random pairs, nested for one key: a larger fraction only adds pairs.

    Without a forced `diagonal` a first permutation matrix is drawn in its place, so
    that every language is still taught both ways.
    """
    L = languages
    first_key, rest_key = jr.split(key)
    T = np.eye(L)
    if not diagonal:
        T = T[np.asarray(jr.permutation(first_key, L))]
    rest = np.flatnonzero(T.ravel() == 0.0)
    order = np.asarray(jr.permutation(rest_key, rest.size))
    T.ravel()[rest[order[: pair_count(L, fraction) - L]]] = 1.0
    return T


def circulant_pairs(languages: int, width: int) -> Float[np.ndarray, "outputs inputs"]:
    """Each language is taught into itself and its next `width - 1` neighbours.

    >>> circulant_pairs(3, 2)
    array([[1., 0., 1.],
           [1., 1., 0.],
           [0., 1., 1.]])
    """
    if not 1 <= width <= languages:
        raise ValueError(f"width must be between 1 and {languages}, got {width}")
    k, l = np.ogrid[:languages, :languages]
    return ((k - l) % languages < width).astype(float)


def word_permutations(
    languages: int, words: int, *, key: Key
) -> Int[np.ndarray, "languages words"]:
    r"""One random dictionary a language: `perm[k][i]` is the word with meaning $i$."""
    return np.stack([np.asarray(jr.permutation(k, words)) for k in jr.split(key, languages)])
