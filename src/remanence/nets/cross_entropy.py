r"""The cross entropy of next tokens, $-\frac1M\sum_m \log\operatorname{softmax}(W_y h_m + b_y)_{y_m}$.

With many tokens the readout is nearly all of a language model's work, and a CPU
loses a third of it to moving logits about. So rows are taken some at a time, as many
as stay in the cache, and their part of every gradient is made at once: no logit is
kept, and none is computed again on the way back.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..cells import Elman, LSTM
from .batch import states
from .batch_lstm import lstm_token_states
from .recurrent import Recurrent


CACHED = 2**22
"""Logits that are held at a time: 16 MB of float32."""


def token_cross_entropy(
    model: Any, tokens: Int[Array, "batch time"], *, context: int = 1
) -> Float[Array, ""]:
    """Nats per token that a model of tokens, started at rest, loses on the next one.

    Positions that have heard fewer than `context` tokens are left out. A model may
    offer `hidden(tokens)`, to be read by its `W_y` and `b_y`; else it gives logits.

    >>> import jax.random as jr
    >>> cell = LSTM.init(4, 8, key=jr.key(0))
    >>> net = Recurrent.init(cell, outputs=5, key=jr.key(1), tokens=5)
    >>> bool(token_cross_entropy(net, jnp.ones((2, 9), jnp.int32)) > 0)
    True
    """
    heard, asked = tokens[:, :-1], tokens[:, 1:]
    if heard.shape[1] < context:
        raise ValueError(f"no position of {heard.shape[1]} has heard a context of {context} tokens")
    quick = (
        isinstance(model, Recurrent)
        and type(model.cell) in (Elman, LSTM)
        and model.readout == "every"
        and model.W_y is not None
        and model.b_y is not None
    )
    asked = asked[:, context - 1 :]
    hidden = getattr(model, "hidden", None)
    if hidden is not None:
        h = jax.vmap(hidden)(heard)[:, context - 1 :]
        rows = h.reshape(-1, h.shape[-1])
        return _cross_entropy(model.W_y, model.b_y, rows, asked.reshape(-1))
    if not quick:
        logits = jax.vmap(model)(heard)[:, context - 1 :]
        picked = jnp.take_along_axis(logits, asked[..., None], axis=-1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)
    if isinstance(model.cell, LSTM) and model.embedding is not None:
        h = lstm_token_states(model.cell, model.embedding, heard)
    else:
        h = states(model.cell, jax.vmap(model.heard)(heard), every=True)
    rows = h[context - 1 :].transpose(0, 2, 1).reshape(-1, h.shape[1])
    return _cross_entropy(model.W_y, model.b_y, rows, asked.T.reshape(-1))


def _pieces(W, h, asked):
    """Rows in pieces of one size; what fills up the last piece weighs nothing."""
    M, V = h.shape[0], W.shape[0]
    count = -(-M // max(1, min(M, CACHED // V)))
    size = -(-M // count)
    fill = count * size - M
    weight = jnp.pad(jnp.full(M, 1 / M, h.dtype), (0, fill))
    cut = lambda a: jnp.pad(a, ((0, fill),) + ((0, 0),) * (a.ndim - 1)).reshape(
        count, size, *a.shape[1:]
    )
    return cut(h), cut(asked), weight.reshape(count, size)


def _priced(W, b, h, y, w):
    z = h @ W.T + b
    top = z.max(1)
    e = jnp.exp(z - top[:, None])
    total = e.sum(1)
    picked = jnp.take_along_axis(z, y[:, None], 1)[:, 0]
    return jnp.sum(w * (top + jnp.log(total) - picked)), e, total


@jax.custom_vjp
def _cross_entropy(W, b, h, asked):
    price = lambda piece: _priced(W, b, *piece)[0]
    return jnp.sum(jax.lax.map(price, _pieces(W, h, asked)))


def _forward(W, b, h, asked):
    token = jnp.arange(W.shape[0])

    def step(sums, piece):
        dW, db = sums
        h, y, w = piece
        price, e, total = _priced(W, b, h, y, w)
        hit = jnp.where(token == y[:, None], w[:, None], 0)
        g = e * (w / total)[:, None] - hit
        return (dW + g.T @ h, db + g.sum(0)), (price, g @ W)

    start = (jnp.zeros_like(W), jnp.zeros_like(b))
    (dW, db), (price, dh) = jax.lax.scan(step, start, _pieces(W, h, asked))
    dh = dh.reshape(-1, h.shape[1])[: h.shape[0]]
    return jnp.sum(price), (dW, db, dh)


def _backward(kept, cotangent):
    return *(cotangent * slope for slope in kept), None


_cross_entropy.defvjp(_forward, _backward)
