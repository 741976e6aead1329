r"""The cross entropy of next tokens, $-\frac1M\sum_m \log\operatorname{softmax}(W_y h_m + b_y)_{y_m}$.

With many tokens the readout is nearly all of a language model's work, and a CPU loses a third of it
to moving logits about. So rows are taken as many at a time as stay in the cache, and their part of
every gradient is made at once: no logit is kept, and none is computed again on the way back.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .batch import steps_on_columns, token_states
from .recurrent import Recurrent


CACHED = 2**22
"""Logits that are held at a time: 16 MB of float32."""


def token_cross_entropy(
    model: Any, tokens: Int[Array, "batch time"], *, context: int = 1
) -> Float[Array, ""]:
    """Nats per token that a model of tokens, started at rest, loses on the next one.

    Positions that have read fewer than `context` tokens are left out. A model may
    offer `hidden(tokens)`, to be read by its `W_y` and `b_y`; else it gives logits.

    >>> import jax.random as jr
    >>> from remanence.cells import LSTM
    >>> cell = LSTM.init(4, 8, key=jr.key(0))
    >>> net = Recurrent.init(cell, outputs=5, key=jr.key(1), tokens=5)
    >>> bool(token_cross_entropy(net, jnp.ones((2, 9), jnp.int32)) > 0)
    True
    """
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    if inputs.shape[1] < context:
        raise ValueError(f"no position of {inputs.shape[1]} has a context of {context} tokens")
    targets = targets[:, context - 1 :]
    if hasattr(model, "hidden"):
        h = jax.vmap(model.hidden)(inputs)[:, context - 1 :]
        rows = h.reshape(-1, h.shape[-1])
        return _cross_entropy(model.W_y, model.b_y, rows, targets.reshape(-1))
    if not _affine_on_tokens(model):
        import optax  # a tenth of a second

        logits = jax.vmap(model)(inputs)[:, context - 1 :]
        return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, targets))
    h = token_states(model.cell, model.embedding, inputs)
    rows = h[context - 1 :].transpose(0, 2, 1).reshape(-1, h.shape[1])
    return _cross_entropy(model.W_y, model.b_y, rows, targets.T.reshape(-1))


def _affine_on_tokens(model: Any) -> bool:
    return (
        isinstance(model, Recurrent)
        and steps_on_columns(model.cell)
        and model.readout == "every"
        and not any(part is None for part in (model.embedding, model.W_y, model.b_y))
    )


def _pieces(W, h, targets):
    """Rows in pieces of one size; what fills up the last piece weighs nothing."""
    M, V = h.shape[0], W.shape[0]
    count = -(-M // max(1, min(M, CACHED // V)))
    size = -(-M // count)
    fill = count * size - M
    weight = jnp.pad(jnp.full(M, 1 / M, h.dtype), (0, fill))
    padded = lambda a: jnp.pad(a, ((0, fill),) + ((0, 0),) * (a.ndim - 1))
    pieces = (padded(h), padded(targets), weight)
    return tuple(a.reshape(count, size, *a.shape[1:]) for a in pieces)


def _price(W, b, h, y, w):
    z = h @ W.T + b
    top = z.max(1)
    e = jnp.exp(z - top[:, None])
    total = e.sum(1)
    picked = jnp.take_along_axis(z, y[:, None], 1)[:, 0]
    return jnp.sum(w * (top + jnp.log(total) - picked)), e, total


@jax.custom_vjp
def _cross_entropy(W, b, h, targets):
    price = lambda piece: _price(W, b, *piece)[0]
    return jnp.sum(jax.lax.map(price, _pieces(W, h, targets)))


def _forward(W, b, h, targets):
    token = jnp.arange(W.shape[0])

    def step(sums, piece):
        dW, db = sums
        h, y, w = piece
        price, e, total = _price(W, b, h, y, w)
        hit = jnp.where(token == y[:, None], w[:, None], 0)
        g = e * (w / total)[:, None] - hit
        return (dW + g.T @ h, db + g.sum(0)), (price, g @ W)

    start = (jnp.zeros_like(W), jnp.zeros_like(b))
    (dW, db), (price, dh) = jax.lax.scan(step, start, _pieces(W, h, targets))
    dh = dh.reshape(-1, h.shape[1])[: h.shape[0]]
    return jnp.sum(price), (dW, db, dh)


def _backward(kept, cotangent):
    return *(cotangent * slope for slope in kept), None


_cross_entropy.defvjp(_forward, _backward)
