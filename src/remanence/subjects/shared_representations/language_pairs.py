r"""Which pairs of languages are taught: a binary matrix $T_{kl}$, output $k$, input $l$.

The target of every pair is the same word, $\Pi_k \Pi_l^\top$; the mask that is taught is
$T \otimes J_D$ (`full`) or only its target entries (`diagonal`). The pairs are a graph, an edge where
$T_{kl} = 1$. At zero loss and $H = D$ an edge says $W_o^k W_h = (W_i^l)^{-1}$, so what is taught spreads
along paths, $A_{kl} = A_{kl_1} A_{k_1l_1}^{-1} A_{k_1l_2} \cdots$, and never between components.
"""

import math
from functools import cache
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.sparse import csgraph

from ..._types import Key


Mask = Literal["full", "diagonal"]
Pairs = Float[np.ndarray, "outputs inputs"]


def checked_pairs(T: ArrayLike) -> Pairs:
    """`T` itself, if it is a square 0/1 matrix without an empty row or column: a language that is
    never an output (or input) would keep its random weights for ever."""
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


def published_pairs(fraction: float, *, seed: int, languages: int = 10) -> Pairs:
    """The document's own draw of `T`: its diagonal and some other pairs, nested for one seed.

    It predates JAX's present default for splitting keys, so that switch is set meanwhile.

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


def nested_pairs(languages: int, fraction: float, *, key: Key, diagonal: bool = True) -> Pairs:
    """Random pairs, nested for one key; without a forced `diagonal` a permutation matrix is drawn
    in its place, so that every language is still taught both ways."""
    L = languages
    first_key, rest_key = jr.split(key)
    T = np.eye(L)
    if not diagonal:
        T = T[np.asarray(jr.permutation(first_key, L))]
    rest = np.flatnonzero(T.ravel() == 0.0)
    order = np.asarray(jr.permutation(rest_key, rest.size))
    T.ravel()[rest[order[: pair_count(L, fraction) - L]]] = 1.0
    return T


def circulant_pairs(languages: int, width: int) -> Pairs:
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


class Connectivity(eqx.Module):
    """What the graph of `T` says before any training.

    `together` marks the pairs whose two ends share a component; `path_lengths` counts the
    taught pairs on the shortest way between them, infinite across components; `gap` is σ2/σ1 of
    `T`: near 1 the second mode grows almost as fast as the first.
    """

    components: int
    together: Pairs
    path_lengths: Pairs
    algebraic: float
    gap: float

    @property
    def connected(self) -> bool:
        """Whether every pair can be reached from the taught ones."""
        return self.components == 1


def _bipartite(T: Pairs) -> Float[np.ndarray, "nodes nodes"]:
    K, L = T.shape
    return np.block([[np.zeros((K, K)), T], [T.T, np.zeros((L, L))]])


def components(T: Pairs) -> tuple[int, Int[np.ndarray, " outputs"], Int[np.ndarray, " inputs"]]:
    """The number of components, and the one of each output and each input."""
    count, labels = csgraph.connected_components(_bipartite(T), directed=False)
    return int(count), labels[: len(T)], labels[len(T) :]


def connectivity(T: Pairs) -> Connectivity:
    """Components, shortest paths and spectral gap of the taught pairs.

    >>> graph = connectivity(circulant_pairs(6, 2))
    >>> graph.connected, int(graph.path_lengths.max())
    (True, 5)
    """
    graph = _bipartite(np.asarray(T, dtype=float))
    count, out, into = components(T)
    paths = csgraph.shortest_path(graph, unweighted=True, directed=False)[: len(T), len(T) :]
    values = np.linalg.svd(T, compute_uv=False)
    rates = np.linalg.eigvalsh(np.diag(graph.sum(axis=1)) - graph)
    together = (out[:, None] == into).astype(float)
    gap = float(values[1] / values[0]) if len(values) > 1 else 0.0
    return Connectivity(count, together, paths, max(float(rates[1]), 0.0), gap)


@cache
def _connected_digraphs(nodes: int, arcs: int) -> int:
    """Weakly connected digraphs on labelled nodes, by the component of node 1."""
    total = math.comb(nodes * (nodes - 1), arcs)
    for size in range(1, nodes):
        rest = nodes - size
        total -= math.comb(nodes - 1, size - 1) * sum(
            _connected_digraphs(size, inside) * math.comb(rest * (rest - 1), arcs - inside)
            for inside in range(min(arcs, size * (size - 1)) + 1)
        )
    return total


def probability_connected(languages: int, pairs: int) -> float:
    """The exact chance that random pairs with a forced diagonal are connected: that the digraph
    of the other pairs is weakly so, since the diagonal ties output $k$ to input $k$.

    >>> round(probability_connected(10, 25), 3)
    0.749
    """
    L = languages
    if not L <= pairs <= L * L:
        raise ValueError(f"pairs must lie between {L} and {L * L}, got {pairs}")
    arcs = pairs - L
    return _connected_digraphs(L, arcs) / math.comb(L * (L - 1), arcs)


def path_bound(graph: Connectivity, residual: float) -> Pairs:
    r"""How far an untaught block can be from $I$ when taught ones are within `residual`.

    For $H = D$ blocks along a path are products and inverses: with every taught
    $\|A - I\|_2 \le \epsilon < 1$ a path of $n$ blocks gives
    $(1+\epsilon)^{m}(1-\epsilon)^{-(m-1)} - 1$, $m = (n+1)/2$: about $n\epsilon$.
    """
    if not 0 <= residual < 1:
        return np.full_like(graph.path_lengths, np.inf)
    m = (graph.path_lengths + 1) / 2
    with np.errstate(over="ignore", invalid="ignore"):
        bound = np.exp(m * math.log1p(residual) - (m - 1) * math.log1p(-residual)) - 1
    return np.where(np.isfinite(m), bound, np.inf)
