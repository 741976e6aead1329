"""RWKV-4 as transformers saves it, and RWKV-7 as its authors do: a .pth without a configuration.

Their first norm acts on the embedding, once for every token.
"""

import re

import jax.numpy as jnp

from ...cells import DeltaRule, Heads, LinearRecurrence, RWKV4, RWKV7
from ...cells.rwkv_layers import LowRankMap, RWKV4Layer, RWKV7Layer
from ...nets import Recurrent
from .model import language_model, Source


NAMES = {"emb.weight", "blocks.0.att.w0", "blocks.0.att.r_k"}
"""By which RWKV-7 is known, whose files have no configuration."""
BLOCK = re.compile(r"blocks\.(\d+)\.att\.w0")


def rwkv4(source: Source) -> Recurrent:
    """RWKV-4."""
    body = source.under("rwkv") if source.has("rwkv.ln_out.weight") else source
    eps = source.number("layer_norm_epsilon", 1e-5)
    blocks = body.numbered("blocks", source.whole("num_hidden_layers"))
    norm = blocks[0].norm("pre_ln", eps, centred=True)
    # transformers halves the stream every few layers, which only these norms' eps feel.
    every = source.config.get("rescale_every", 6)
    halved = lambda i: 4.0 ** (i // every) if isinstance(every, int) and every > 0 else 1.0
    rows = body.array("embeddings.weight", 2)
    return language_model(
        [_rwkv4_layer(block, eps * halved(i)) for i, block in enumerate(blocks)],
        body.norm("ln_out", 1e-5 * halved(len(blocks)), centred=True),
        norm(rows),
        source.head("head.weight", rows),
    )


def _rwkv4_layer(block: Source, eps: float) -> RWKV4Layer:
    time, channel = block.under("attention"), block.under("feed_forward")
    parts = ("key", "value", "receptance")
    mixes = lambda of, names: jnp.stack([of.array(f"time_mix_{n}").reshape(-1) for n in names])
    gates = RWKV4(time.array("time_decay", 1), time.array("time_first", 1))
    return RWKV4Layer(
        norms=(block.norm("ln1", eps, centred=True), block.norm("ln2", eps, centred=True)),
        recurrence=LinearRecurrence(gates),
        time={name: time.dense(name) for name in (*parts, "output")},
        time_mixes=mixes(time, parts),
        channel={name: channel.dense(name) for name in parts},
        channel_mixes=mixes(channel, ("key", "receptance")),
    )


def rwkv7(source: Source) -> Recurrent:
    """RWKV-7."""
    count = sum(bool(BLOCK.fullmatch(name)) for name in source.tensors)
    blocks = [source.under(f"blocks.{i}") for i in range(count)]
    norm = blocks[0].norm("ln0", 1e-5, centred=True)
    embedding = norm(source.array("emb.weight", 2))
    return language_model(
        [_rwkv7_layer(block, first=i == 0) for i, block in enumerate(blocks)],
        source.norm("ln_out", 1e-5, centred=True),
        embedding,
        source.array("head.weight", 2),
        spare=embedding.shape[1],
    )


def _rwkv7_layer(block: Source, *, first: bool) -> RWKV7Layer:
    att, ffn = block.under("att"), block.under("ffn")
    flat = lambda name: att.array(name).reshape(-1)
    low = lambda name: LowRankMap(
        att.array(f"{name}1", 2),
        att.array(f"{name}2", 2),
        flat(f"{name}0") if att.has(f"{name}0") else None,
    )
    bonus = att.array("r_k", 2)
    H, N = bonus.shape
    return RWKV7Layer(
        norms=(block.norm("ln1", 1e-5, centred=True), block.norm("ln2", 1e-5, centred=True)),
        recurrence=DeltaRule(RWKV7(Heads(H, N, N))),
        time={name: att.dense(name) for name in ("receptance", "key", "value", "output")},
        # Files hold the share of the input before.
        time_mixes=1 - jnp.stack([flat(f"x_{part}") for part in "rwkvag"]),
        channel={name: ffn.dense(name) for name in ("key", "value")},
        channel_mixes=1 - ffn.array("x_k").reshape(1, -1),
        low_rank={name: low(name) for name in ("wag" if first else "wagv")},
        k_k=flat("k_k"),
        k_a=flat("k_a"),
        bonus=bonus,
        norm_out=att.norm("ln_x", 64e-5, centred=True, groups=H),
    )
