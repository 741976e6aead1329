r"""The graph of taught pairs: outputs $k$ and inputs $l$, an edge where $T_{kl} = 1$.

At zero loss and $H = D$ an edge says $W_o^k W_h = (W_i^l)^{-1}$, so what is taught
spreads along paths and never between components:
$A_{kl} = A_{kl_1} A_{k_1l_1}^{-1} A_{k_1l_2} \cdots$.
"""

import math
from functools import cache

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csgraph


Pairs = Float[np.ndarray, "outputs inputs"]


class Connectivity(eqx.Module):
    """What the graph of `T` says before any training.

    `together` marks the pairs whose two ends share a component; `path_lengths`
    counts the taught pairs on the shortest way between them (1 for a taught pair,
    infinite across components); `gap` is σ2/σ1 of `T`.
    """

    components: int
    together: Pairs
    path_lengths: Pairs
    algebraic: float
    singular_values: Float[np.ndarray, " values"]

    @property
    def connected(self) -> bool:
        """Whether every pair can be reached from the taught ones."""
        return self.components == 1

    @property
    def gap(self) -> float:
        """σ2/σ1: near 1 the second mode grows almost as fast as the first; 0 without one."""
        first, *others = self.singular_values.tolist()
        return others[0] / first if others else 0.0


def _bipartite(T: Pairs) -> Float[np.ndarray, "nodes nodes"]:
    K, L = T.shape
    return np.block([[np.zeros((K, K)), T], [T.T, np.zeros((L, L))]])


def components(T: Pairs) -> tuple[int, Int[np.ndarray, " outputs"], Int[np.ndarray, " inputs"]]:
    """The number of components, and the one of each output and each input."""
    count, labels = csgraph.connected_components(_bipartite(T), directed=False)
    return int(count), labels[: T.shape[0]], labels[T.shape[0] :]


def connectivity(T: Pairs) -> Connectivity:
    """Components, shortest paths and spectral gap of the taught pairs.

    >>> from remanence.subjects.shared_representations.language_pairs import circulant_pairs
    >>> graph = connectivity(circulant_pairs(6, 2))
    >>> graph.connected, int(graph.path_lengths.max())
    (True, 5)
    """
    graph = _bipartite(np.asarray(T, dtype=float))
    count, out, into = components(T)
    paths = csgraph.shortest_path(graph, unweighted=True, directed=False)
    K = T.shape[0]
    laplacian = np.diag(graph.sum(axis=1)) - graph
    return Connectivity(
        count,
        (out[:, None] == into[None, :]).astype(float),
        paths[:K, K:],
        max(float(np.linalg.eigvalsh(laplacian)[1]), 0.0),
        np.linalg.svd(T, compute_uv=False),
    )


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
    """The exact chance that random pairs with a forced diagonal are connected.

    The diagonal ties output $k$ to input $k$, so the bipartite graph is connected
    exactly when the digraph of the other pairs is weakly connected.

    >>> round(probability_connected(10, 25), 3)
    0.749
    """
    L = languages
    if not L <= pairs <= L * L:
        raise ValueError(f"pairs must lie between {L} and {L * L}, got {pairs}")
    arcs = pairs - L
    return _connected_digraphs(L, arcs) / math.comb(L * (L - 1), arcs)


def path_bound(graph: Connectivity, residual: float) -> Float[np.ndarray, "outputs inputs"]:
    r"""How far an untaught block can be from $I$ when taught ones are within `residual`.

    In the spectral norm, with every taught block $\|A - I\| \le \epsilon < 1$, a path
    of $n$ blocks and $n - 1$ inverses in turn gives
    $(1+\epsilon)^{m}(1-\epsilon)^{-(m-1)} - 1$, $m = (n+1)/2$: about $n\epsilon$. Holds
    for $H = D$, where the blocks along a path are products and inverses.
    """
    if not 0 <= residual < 1:
        return np.full_like(graph.path_lengths, np.inf)
    m = (graph.path_lengths + 1) / 2
    with np.errstate(over="ignore", invalid="ignore"):
        bound = np.exp(m * math.log1p(residual) - (m - 1) * math.log1p(-residual)) - 1
    return np.where(np.isfinite(m), bound, np.inf)
