"""RWKV-4 as transformers saves it, and RWKV-7 as its authors do: a .pth without a configuration.

Their first norm acts on the embedding, once for every token.
"""

import re

import jax.numpy as jnp

from ...cells import DeltaRule, Heads, LinearRecurrence, RWKV4, RWKV7
from ...cells.parts import Norm
from ...cells.rwkv_layers import LowRankMap, RWKV4Layer, RWKV7Layer
from ...nets import Recurrent
from ..safetensors import Tensors
from .model import language_model, Source


BLOCK = re.compile(r"blocks\.(\d+)\.att\.w0")


def rwkv4(source: Source) -> Recurrent:
    """RWKV-4."""
    body = source.under("rwkv") if source.has("rwkv.ln_out.weight") else source
    eps = source.number("layer_norm_epsilon", 1e-5)
    blocks = [body.under(f"blocks.{i}") for i in range(source.whole("num_hidden_layers"))]
    norm = blocks[0].norm("pre_ln", eps, centred=True)
    # transformers halves the stream every few layers, which only these norms' eps feel.
    every = source.config.get("rescale_every", 6)
    halved = lambda i: 4.0 ** (i // every) if isinstance(every, int) and every > 0 else 1.0
    return language_model(
        [_rwkv4_layer(block, eps * halved(i)) for i, block in enumerate(blocks)],
        body.norm("ln_out", 1e-5 * halved(len(blocks)), centred=True),
        norm(body.array("embeddings.weight", 2)),
        source.array("head.weight", 2),
    )


def _rwkv4_layer(block: Source, eps: float) -> RWKV4Layer:
    time, channel = block.under("attention"), block.under("feed_forward")
    mixes = [time.array(f"time_mix_{part}") for part in ("key", "value", "receptance")]
    mixes += [channel.array(f"time_mix_{part}") for part in ("key", "receptance")]
    gates = RWKV4(time.array("time_decay", 1), time.array("time_first", 1))
    return RWKV4Layer(
        norms=(block.norm("ln1", eps, centred=True), block.norm("ln2", eps, centred=True)),
        mixes=jnp.stack([mix.reshape(-1) for mix in mixes]),
        key=time.dense("key"),
        value=time.dense("value"),
        receptance=time.dense("receptance"),
        recurrence=LinearRecurrence(gates),
        W_out=time.dense("output"),
        channel_key=channel.dense("key"),
        channel_value=channel.dense("value"),
        channel_receptance=channel.dense("receptance"),
    )


def is_rwkv7(tensors: Tensors) -> bool:
    """Whether the names are those of RWKV-7."""
    return {"emb.weight", "blocks.0.att.w0", "blocks.0.att.r_k"} <= tensors.keys()


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
    # Files hold the share of the input before.
    mixes = [flat(f"x_{part}") for part in "rwkvag"] + [ffn.array("x_k").reshape(-1)]
    ln_x = att.norm("ln_x", 64e-5, centred=True)
    return RWKV7Layer(
        norms=(block.norm("ln1", 1e-5, centred=True), block.norm("ln2", 1e-5, centred=True)),
        mixes=1 - jnp.stack(mixes),
        receptance=att.dense("receptance"),
        key=att.dense("key"),
        value=att.dense("value"),
        decay=low("w"),
        rate=low("a"),
        value_share=None if first else low("v"),
        gate=low("g"),
        k_k=flat("k_k"),
        k_a=flat("k_a"),
        bonus=bonus,
        norm_out=Norm(ln_x.weight, ln_x.bias, ln_x.eps, True, H),
        recurrence=DeltaRule(RWKV7(Heads(H, N, N))),
        W_out=att.dense("output"),
        channel_key=ffn.dense("key"),
        channel_value=ffn.dense("value"),
    )
