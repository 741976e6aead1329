r"""A batch of sequences through an LSTM, $c_t = f \odot c_{t-1} + i \odot g$, with its gradient written out.

What does not wait for the state is one product for all times: $W_x x_t + b$ before
the scan, and $\sum_t \delta_t h_{t-1}^\top$ after the scan backwards, which only carries
$\delta_t$, the gradient by what drives the gates. States are columns, so that every
product is in the order that BLAS likes.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..cells import LSTM


Columns = Float[Array, "time units batch"]


def lstm_states(cell: LSTM, xs: Float[Array, "time inputs batch"]) -> Columns:
    r"""The states $h_1 \dots h_T$ of every sequence from rest, one column a sequence."""
    return _driven(cell.W_h, _apart(_pushed(cell, _flat(xs)), xs.shape[0]))


def lstm_token_states(
    cell: LSTM, embedding: Float[Array, "tokens inputs"], heard: Int[Array, "batch time"]
) -> Columns:
    """The same for embedded tokens; what each of a few tokens does is computed once."""
    times = heard.T.reshape(-1)
    if embedding.shape[0] < times.size:
        drive = _pushed(cell, embedding.T)[:, times]
    else:
        drive = _pushed(cell, embedding[times].T)
    return _driven(cell.W_h, _apart(drive, heard.shape[1]))


def _pushed(cell: LSTM, columns: Array) -> Array:
    drive = cell.W_x @ columns
    return drive if cell.b is None else drive + cell.b[:, None]


def _flat(orbit: Array) -> Array:
    return orbit.transpose(1, 0, 2).reshape(orbit.shape[1], -1)


def _apart(flat: Array, times: int) -> Array:
    return flat.reshape(flat.shape[0], times, -1).transpose(1, 0, 2)


@jax.custom_vjp
def _driven(W_h, drive):
    return _forward(W_h, drive)[0]


def _forward(W_h, drive):
    def step(state, z):
        h, c = state
        i, f, g, o = jnp.split(z + W_h @ h, 4)
        sigmoid = jax.nn.sigmoid
        i, f, g, o = sigmoid(i), sigmoid(f), jnp.tanh(g), sigmoid(o)
        c = f * c + i * g
        t = jnp.tanh(c)
        return (o * t, c), (jnp.concatenate([i, f, g, o]), c, t, o * t)

    zeros = jnp.zeros((W_h.shape[1], drive.shape[2]), W_h.dtype)
    _, (gates, c, t, h) = jax.lax.scan(step, (zeros, zeros), drive)
    return h, (W_h, gates, c, t, h)


def _backward(kept, cotangent):
    W_h, gates, c, t, h = kept
    W_back = jax.lax.optimization_barrier(W_h.T)  # transposed once, not every step
    before = lambda orbit: jnp.concatenate([jnp.zeros_like(orbit[:1]), orbit[:-1]])

    def step(carry, at):
        dh, dc = carry
        gates, c, t, ct = at
        i, f, g, o = jnp.split(gates, 4)
        dh = dh + ct
        dc = dc + dh * o * (1 - t * t)
        delta = jnp.concatenate(
            [dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g * g), dh * t * o * (1 - o)]
        )
        return (W_back @ delta, dc * f), delta

    zeros = jnp.zeros_like(h[0])
    along = (gates, before(c), t, cotangent)
    _, deltas = jax.lax.scan(step, (zeros, zeros), along, reverse=True)
    return _flat(deltas) @ _flat(before(h)).T, deltas


_driven.defvjp(_forward, _backward)
