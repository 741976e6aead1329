r"""Gradients of $\frac12\sum_{kl} T_{kl}\,\|W_o^k W_h W_i^l - I\|^2$ without its blocks.

Full mask: with $A_k = W_o^k W_h$ and the Gram matrices $W_i^l W_i^{l\top}$,

$$C_k = A_k \textstyle\sum_l T_{kl} W_i^l W_i^{l\top} - \sum_l T_{kl} W_i^{l\top}$$

is all that the gradient needs: $O(L D H^2)$ products and $O(L^2 H (H + D))$
additions instead of $O(L^2 D^2 H)$. Diagonal mask: $D$ numbers a block exist, so
$O(L^2 D H)$ beside three products of $L D H^2$ (the hidden matrix is shared, and
no mask removes it).

Both matrices of a lane are kept as (languages, words, units), or as (words,
languages, units) for the diagonal mask: the order in which every product is plain.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .gated_linear import GatedLinear
from .language_pairs import Mask


Taught = Float[Array | np.ndarray, "outputs inputs"]


class Packed(NamedTuple):
    """The three factors in the order that suits the mask: W_o, W_h, W_iᵀ."""

    P: Float[Array | np.ndarray, "*lanes outer inner units"]
    W: Float[Array | np.ndarray, "*lanes units units"]
    Q: Float[Array | np.ndarray, "*lanes outer inner units"]


def packed(net: GatedLinear, mask: Mask) -> Packed:
    """The weights of a network, ready for `gradient`."""
    # Methods, so that NumPy's doubles stay doubles wherever this is called.
    P, Q = net.W_o, net.W_i.swapaxes(1, 2)
    if mask == "diagonal":
        P, Q = P.swapaxes(0, 1), Q.swapaxes(0, 1)
    return Packed(P, net.W_h, Q)


def unpacked(weights: Packed, mask: Mask) -> GatedLinear:
    """The network that `packed` came from."""
    P, W, Q = weights
    if mask == "diagonal":
        P, Q = P.swapaxes(0, 1), Q.swapaxes(0, 1)
    return GatedLinear(P, W, Q.swapaxes(1, 2))


def _laid_out(transposed: Array | np.ndarray) -> Array:
    """A transpose that is written down: XLA's products are slow on one that is not."""
    return jax.lax.optimization_barrier(transposed)


def _diagonal_gradient(weights: Packed, T: Taught) -> Packed:
    P, W, Q = weights
    D, L, H = P.shape
    A = P @ W
    y = jnp.einsum("dkh,dlh->dkl", A, Q)
    E = (y - 1.0) * T
    # Transposing inside the difference keeps both products in XLA's fast order.
    E_t = (jnp.swapaxes(y, 1, 2) - 1.0) * T.T
    C = E @ Q
    W_gradient = _laid_out(P.reshape(D * L, H).T) @ C.reshape(D * L, H)
    return Packed(C @ W.T, W_gradient, E_t @ A)


def _full_gradient(weights: Packed, T: Taught) -> Packed:
    P, W, Q = weights
    L, D, H = P.shape
    A = P @ W
    gram_Q = (jnp.swapaxes(Q, 1, 2) @ Q).reshape(L, H * H)
    gram_A = (jnp.swapaxes(A, 1, 2) @ A).reshape(L, H * H)
    T_t = _laid_out(T.T)
    inputs = (T @ Q.reshape(L, D * H)).reshape(L, D, H)
    outputs = (T_t @ A.reshape(L, D * H)).reshape(L, D, H)
    C = A @ (T @ gram_Q).reshape(L, H, H) - inputs
    W_gradient = _laid_out(P.reshape(L * D, H).T) @ C.reshape(L * D, H)
    Q_gradient = Q @ (T_t @ gram_A).reshape(L, H, H) - outputs
    return Packed(C @ W.T, W_gradient, Q_gradient)


def gradient(weights: Packed, T: Taught, mask: Mask) -> Packed:
    """The gradient of half the squared error over the pairs in `T`."""
    return (_diagonal_gradient if mask == "diagonal" else _full_gradient)(weights, T)


def squared_error(weights: Packed, T: Taught, mask: Mask) -> Float[Array, ""]:
    """The squared error from its blocks: slower than by Gram matrices, exact near zero."""
    P, W, Q = weights
    A = P @ W
    if mask == "diagonal":
        return jnp.sum(((jnp.einsum("dkh,dlh->dkl", A, Q) - 1.0) * T) ** 2)
    D = P.shape[1]
    E = jnp.einsum("kdh,leh->klde", A, Q) - jnp.eye(D, dtype=A.dtype)
    return jnp.sum(T * jnp.sum(E * E, axis=(2, 3)))
