r"""Gradients of $\frac12\sum_{kl} T_{kl}\,\|W_o^k W_h W_i^l - I\|^2$ without its blocks.

Full mask: with $A_k = W_o^k W_h$ and the Gram matrices $W_i^l W_i^{l\top}$,

$$C_k = A_k \textstyle\sum_l T_{kl} W_i^l W_i^{l\top} - \sum_l T_{kl} W_i^{l\top}$$

is all that the gradient needs: $O(L D H^2)$ products and $O(L^2 H (H + D))$ additions instead of
$O(L^2 D^2 H)$. Diagonal mask: $D$ numbers a block exist, so $O(L^2 D H)$ beside three products of
$L D H^2$. Both matrices of a lane are kept as (languages, words, units), or as (words, languages,
units) for the diagonal mask: the order in which every product is plain.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .gated_linear import GatedLinear
from .language_pairs import Mask


Taught = Float[Array | np.ndarray, "outputs inputs"]
laid_out = jax.lax.optimization_barrier  # XLA's products are slow on a transpose that is not


class Packed(NamedTuple):
    """The three factors in the order that suits the mask: W_o, W_h, W_iᵀ."""

    P: Float[Array | np.ndarray, "*lanes outer inner units"]
    W: Float[Array | np.ndarray, "*lanes units units"]
    Q: Float[Array | np.ndarray, "*lanes outer inner units"]


def pack(net: GatedLinear, mask: Mask) -> Packed:
    """The weights of a network, ready for `gradient`."""
    # Methods, so that NumPy's doubles stay doubles wherever this is called.
    P, Q = net.W_o, net.W_i.swapaxes(1, 2)
    if mask == "diagonal":
        P, Q = P.swapaxes(0, 1), Q.swapaxes(0, 1)
    return Packed(P, net.W_h, Q)


def unpack(weights: Packed, mask: Mask) -> GatedLinear:
    """The network that has these weights."""
    P, W, Q = weights
    if mask == "diagonal":
        P, Q = P.swapaxes(0, 1), Q.swapaxes(0, 1)
    return GatedLinear(P, W, Q.swapaxes(1, 2))


def gradient(weights: Packed, T: Taught, mask: Mask) -> Packed:
    """The gradient of half the squared error over the pairs in `T`."""
    P, W, Q = weights
    H = W.shape[0]
    A = P @ W
    if mask == "diagonal":
        y = jnp.einsum("dkh,dlh->dkl", A, Q)
        # Transposing inside the difference keeps both products in XLA's fast order.
        E, E_t = (y - 1.0) * T, (jnp.swapaxes(y, 1, 2) - 1.0) * T.T
        C, Q_gradient = E @ Q, E_t @ A
    else:
        T_t = laid_out(T.T)
        mixed = lambda T, a: (T @ a.reshape(len(a), -1)).reshape(a.shape)
        gram_Q, gram_A = jnp.swapaxes(Q, 1, 2) @ Q, jnp.swapaxes(A, 1, 2) @ A
        C = A @ mixed(T, gram_Q) - mixed(T, Q)
        Q_gradient = Q @ mixed(T_t, gram_A) - mixed(T_t, A)
    W_gradient = laid_out(P.reshape(-1, H).T) @ C.reshape(-1, H)
    return Packed(C @ W.T, W_gradient, Q_gradient)


def taught_words(weights: Packed, T: Taught, mask: Mask) -> Float[Array, ""]:
    """$D|T|$."""
    return weights.P.shape[0 if mask == "diagonal" else 1] * jnp.sum(T)


def loss(weights: Packed, T: Taught, mask: Mask) -> Float[Array, ""]:
    r"""$\Lambda$ from its blocks: slower than by Gram matrices, exact near zero."""
    P, W, Q = weights
    A = P @ W
    if mask == "diagonal":
        E = (jnp.einsum("dkh,dlh->dkl", A, Q) - 1.0) * T
    else:
        E = jnp.einsum("kdh,leh->klde", A, Q) - jnp.eye(P.shape[1], dtype=A.dtype)
        E = E * T[:, :, None, None]
    return jnp.sum(E * E) / (2 * taught_words(weights, T, mask))
