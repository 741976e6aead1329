r"""A batch of sequences through an LSTM, $c_t = f \odot c_{t-1} + i \odot g$, with its gradient written out.

What does not wait for the state is one product for all times: $W_x x_t + b$ before
the scan, and every weight gradient, $\sum_t \delta_t h_{t-1}^\top$ and
$\sum_t \delta_t x_t^\top$, after the scan backwards, which only carries $\delta_t$.
States are columns, so that every product is in the order that BLAS likes.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..cells import LSTM


Columns = Float[Array, "time units batch"]


def lstm_states(cell: LSTM, xs: Float[Array, "time inputs batch"]) -> Columns:
    r"""The states $h_1 \dots h_T$ of every sequence from rest, one column a sequence."""
    return _orbit(cell.W_h, cell.W_x, cell.b, xs)


@jax.custom_vjp
def _orbit(W_h, W_x, b, xs):
    return _forward(W_h, W_x, b, xs)[0]


def _forward(W_h, W_x, b, xs):
    drive = jnp.einsum("gi,tib->tgb", W_x, xs)
    if b is not None:
        drive = drive + b[:, None]

    def step(state, z):
        h, c = state
        i, f, g, o = jnp.split(z + W_h @ h, 4)
        sigmoid = jax.nn.sigmoid
        i, f, g, o = sigmoid(i), sigmoid(f), jnp.tanh(g), sigmoid(o)
        c = f * c + i * g
        t = jnp.tanh(c)
        return (o * t, c), (jnp.concatenate([i, f, g, o]), c, t, o * t)

    zeros = jnp.zeros((W_h.shape[1], xs.shape[2]), W_h.dtype)
    _, (gates, c, t, h) = jax.lax.scan(step, (zeros, zeros), drive)
    return h, (W_h, W_x, b, xs, gates, c, t, h)


def _backward(kept, cotangent):
    W_h, W_x, b, xs, gates, c, t, h = kept
    W_back = jax.lax.optimization_barrier(W_h.T)  # transposed once, not every step
    before = lambda orbit: jnp.concatenate([jnp.zeros_like(orbit[:1]), orbit[:-1]])

    def step(carry, at):
        dh, dc = carry
        gates, c, t, ct = at
        i, f, g, o = jnp.split(gates, 4)
        dh = dh + ct
        dc = dc + dh * o * (1 - t * t)
        delta = jnp.concatenate(
            [
                dc * g * i * (1 - i),
                dc * c * f * (1 - f),
                dc * i * (1 - g * g),
                dh * t * o * (1 - o),
            ]
        )
        return (W_back @ delta, dc * f), delta

    zeros = jnp.zeros_like(h[0])
    along = (gates, before(c), t, cotangent)
    _, deltas = jax.lax.scan(step, (zeros, zeros), along, reverse=True)
    flat = lambda orbit: orbit.transpose(1, 0, 2).reshape(orbit.shape[1], -1)
    D = flat(deltas)
    dW_h, dW_x = D @ flat(before(h)).T, D @ flat(xs).T
    db = None if b is None else D.sum(1)
    return dW_h, dW_x, db, jnp.einsum("gi,tgb->tib", W_x, deltas)


_orbit.defvjp(_forward, _backward)
