"""What a gated linear network has learned: losses, translations and its rank."""

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from ..._precision import as_double, double
from .connectivity import connectivity
from .gated_linear import GatedLinear, relabelled
from .language_pairs import Mask


class Translation(eqx.Module):
    r"""A network judged pair by pair.

    Losses are $\frac12$ mean squared errors a word, over the entries that the mask
    looks at; accuracies are of argmax over the whole dictionary (chance $1/D$),
    whatever the mask. A group without any pair has the value NaN.
    """

    loss_trained: float
    loss_untrained: float
    loss_within: float
    """Over untaught pairs inside a component."""
    loss_across: float
    """Over pairs between components."""
    accuracy_trained: float
    accuracy_untrained: float
    rank: float
    """Participation ratio of the squared singular values of $W_oW_hW_i$."""
    signs: float
    """Share of untaught diagonal entries that are negative."""


def translation(
    net: GatedLinear,
    T: Float[np.ndarray, "outputs inputs"],
    *,
    mask: Mask,
    words: Int[np.ndarray, "languages words"] | None = None,
) -> Translation:
    """Losses and accuracies on taught and untaught pairs, in float64.

    `words` are the dictionaries, if the network was taught others than the identity.
    """
    T = np.asarray(T, dtype=float)
    if T.shape != (net.sizes[0],) * 2:
        raise ValueError(
            f"T must be {net.sizes[0]} x {net.sizes[0]}, as the network has languages, "
            f"got shape {T.shape}"
        )
    with double():
        if words is not None:
            net = relabelled(as_double(net), np.argsort(words, axis=1))
        blocks = np.asarray(as_double(net).products("full"))
        P, Q = np.asarray(net.W_o, float), np.asarray(net.W_i, float)
    D = blocks.shape[2]
    diagonal = np.einsum("kldd->kld", blocks)
    if mask == "diagonal":
        errors = ((diagonal - 1.0) ** 2).sum(-1)
    else:
        errors = ((blocks - np.eye(D)) ** 2).sum((-1, -2))
    errors = errors / (2 * D)
    right = (blocks.argmax(axis=2) == np.arange(D)).mean(axis=2)
    together = connectivity(T).together
    untaught = 1.0 - T
    mean = lambda values, where: (
        float((values * where).sum() / where.sum()) if where.sum() else float("nan")
    )
    L, _, H = P.shape
    # The product's singular values from its thin factors: LD×LD is never formed.
    outer = np.asarray(np.linalg.qr(P.reshape(L * D, H), mode="r"))
    inner = np.asarray(np.linalg.qr(Q.transpose(0, 2, 1).reshape(L * D, H), mode="r"))
    product = outer @ np.asarray(net.W_h, float) @ inner.T
    values = np.linalg.svd(product, compute_uv=False)
    # Relative to the largest: the squares of tiny ones would underflow.
    energy = (values / max(values[0], np.finfo(float).tiny)) ** 2
    return Translation(
        mean(errors, T),
        mean(errors, untaught),
        mean(errors, untaught * together),
        mean(errors, 1.0 - together),
        mean(right, T),
        mean(right, untaught),
        float(energy.sum() ** 2 / (energy**2).sum()) if values[0] else 0.0,
        mean((diagonal < 0).mean(-1), untaught),
    )
