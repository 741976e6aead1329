"""RWKV-4 as transformers saves it."""

import jax.numpy as jnp
import numpy as np

from ...cells import LinearRecurrence, RWKV4
from ...cells.rwkv_layers import RWKV4Layer
from ...nets import Recurrent
from .model import language_model, Source


def rwkv4(source: Source) -> Recurrent:
    """RWKV-4; the first norm acts on the embedding, once for every token."""
    body = source.under("rwkv") if source.has("rwkv.ln_out.weight") else source
    eps = source.number("layer_norm_epsilon", 1e-5)
    blocks = body.layers("blocks", source.whole("num_hidden_layers"))
    embedding = body.array("embeddings.weight", 2)
    embedding = blocks[0].norm("pre_ln", eps, centred=True)(embedding)
    # transformers halves the stream every few layers, which only these norms' eps feel.
    every = source.config.get("rescale_every", 6)
    halved = lambda i: 4.0 ** (i // every) if isinstance(every, int) and every > 0 else 1.0
    return language_model(
        [_layer(block, eps * halved(i)) for i, block in enumerate(blocks)],
        body.norm("ln_out", 1e-5 * halved(len(blocks)), centred=True),
        np.asarray(embedding),
        source.tensor("head.weight", 2),
    )


def _layer(block: Source, eps: float) -> RWKV4Layer:
    time, channel = block.under("attention"), block.under("feed_forward")
    mixes = [time.array(f"time_mix_{part}") for part in ("key", "value", "receptance")]
    mixes += [channel.array(f"time_mix_{part}") for part in ("key", "receptance")]
    gates = RWKV4(time.array("time_decay", 1), time.array("time_first", 1))
    return RWKV4Layer(
        (block.norm("ln1", eps, centred=True), block.norm("ln2", eps, centred=True)),
        jnp.stack([mix.reshape(-1) for mix in mixes]),
        time.dense("key"),
        time.dense("value"),
        time.dense("receptance"),
        LinearRecurrence(gates),
        time.dense("output"),
        channel.dense("key"),
        channel.dense("value"),
        channel.dense("receptance"),
    )
