"""The adding problem by an LSTM, then asked of its last inputs; and by convolutions."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax

from ...cells import LSTM
from ...nets import on_batch, Recurrent, truncate
from ...tasks import adding
from .config import Adding
from .gated_convolution import convolution_like
from .parts import Parts


def _loss_of(length: int):
    def loss(model, _, key):
        xs, y = adding(64, length, key=key)
        out = on_batch(model, xs) if isinstance(model, Recurrent) else jax.vmap(model)(xs)
        return jnp.mean((out[:, 0] - y) ** 2)

    return loss


def adding_by_window(config: Adding, parts: Parts) -> dict[str, Any]:
    """Errors of an LSTM on its last k inputs, and of convolutions at each context."""
    seed, loss = parts.bench.seed, _loss_of(config.length)
    key_cell, key_net, key_run, key_test = jr.split(jr.key(seed), 4)
    cell = LSTM.init(2, config.units, key=key_cell)
    net = Recurrent.init(cell, outputs=1, key=key_net, readout="last")
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(5e-3))

    def train(name, model):
        return parts.train(
            f"adding-{name}", model, loss, optimizer, steps=config.steps, key=key_run
        )

    def test_loss(model):
        price = eqx.filter_jit(lambda model, key: loss(model, None, key))
        return float(np.mean([price(model, key) for key in jr.split(key_test, 16)]))

    model = train("lstm", net)
    if model is None:
        return {"diverged": True}
    peers = []
    for context in config.contexts:
        peer = train(f"convolution-{context}", convolution_like(net, context, key=key_net))
        peers.append(None if peer is None else test_loss(peer))
    return {
        "length": config.length,
        "windows": list(config.windows),
        "truncated": [test_loss(truncate(model, k)) for k in config.windows],
        "full": test_loss(model),
        "contexts": list(config.contexts),
        "peers": peers,
    }
