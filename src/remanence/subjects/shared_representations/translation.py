"""What a gated linear network has learned: losses, translations and its rank."""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ..._precision import as_double, double
from .connectivity import connectivity, path_bound
from .gated_linear import GatedLinear
from .language_pairs import Mask


class Translation(eqx.Module):
    r"""A network judged pair by pair.

    Losses are $\frac12$ mean squared errors a word, over the entries that the mask
    looks at; accuracies are of argmax over the whole dictionary (chance $1/D$),
    whatever the mask. A group without any pair has the value NaN.
    """

    loss_trained: float
    loss_untrained: float
    loss_across: float
    """Over pairs between components."""
    accuracy_trained: float
    accuracy_untrained: float
    rank: float
    """Participation ratio of the squared singular values of $W_oW_hW_i$."""
    signs: float
    """Share of untaught diagonal entries that are negative."""


def translation(
    net: GatedLinear, T: Float[np.ndarray, "outputs inputs"], *, mask: Mask
) -> Translation:
    """Losses and accuracies on taught and untaught pairs, in float64."""
    T = np.asarray(T, dtype=float)
    L, D, H = net.sizes
    if T.shape != (L, L):
        raise ValueError(f"T must be {L} x {L}, as the network has languages, got shape {T.shape}")
    with double():
        blocks = np.asarray(as_double(net).products())
    diagonal = np.einsum("kldd->kld", blocks)
    looked_at = np.eye(D) if mask == "diagonal" else np.ones((D, D))
    errors = ((blocks - np.eye(D)) ** 2 * looked_at).sum((-1, -2)) / (2 * D)
    right = (blocks.argmax(axis=2) == np.arange(D)).mean(axis=2)
    untaught, across = 1.0 - T, 1.0 - connectivity(T).together
    mean = lambda values, where: (
        float((values * where).sum() / where.sum()) if where.sum() else float("nan")
    )
    # The product's singular values from its thin factors: LD×LD is never formed.
    P, W, Q = (np.asarray(weights, float) for weights in (net.W_o, net.W_h, net.W_i))
    outer = np.linalg.qr(P.reshape(L * D, H), mode="r")
    inner = np.asarray(np.linalg.qr(Q.transpose(0, 2, 1).reshape(L * D, H), mode="r"))
    values = np.linalg.svd(outer @ W @ inner.T, compute_uv=False)
    # Relative to the largest: the squares of tiny ones would underflow.
    energy = (values / max(values[0], np.finfo(float).tiny)) ** 2
    return Translation(
        mean(errors, T),
        mean(errors, untaught),
        mean(errors, across),
        mean(right, T),
        mean(right, untaught),
        float(energy.sum() ** 2 / (energy**2).sum()) if values[0] else 0.0,
        mean((diagonal < 0).mean(-1), untaught),
    )


def bound_ratios(
    net: GatedLinear, T: Float[np.ndarray, "outputs inputs"]
) -> Float[np.ndarray, "outputs inputs"]:
    r"""$\|A_{kl} - I\|_2$ of each block over the bound along its path (`path_bound`)."""
    with double():
        blocks = np.asarray(as_double(net).products())
    gap = np.linalg.norm(blocks - np.eye(blocks.shape[-1]), ord=2, axis=(2, 3))
    return gap / path_bound(connectivity(T), float(gap[T == 1].max()))
