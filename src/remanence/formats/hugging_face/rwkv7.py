"""RWKV-7 as its authors save it: a state dict without a configuration, in a .pth file."""

import re

import jax.numpy as jnp
import numpy as np

from ...cells import DeltaRule, Heads, RWKV7
from ...cells.parts import Norm
from ...cells.rwkv_layers import LowRankMap, RWKV7Layer
from ...nets import Recurrent
from ..safetensors import Tensors
from .model import language_model, Source


BLOCK = re.compile(r"blocks\.(\d+)\.att\.w0")


def is_rwkv7(tensors: Tensors) -> bool:
    """Whether the names are those of RWKV-7."""
    return {"emb.weight", "blocks.0.att.w0", "blocks.0.att.r_k"} <= tensors.keys()


def rwkv7(source: Source) -> Recurrent:
    """RWKV-7; its first norm acts on the embedding, once for every token."""
    count = sum(bool(BLOCK.fullmatch(name)) for name in source.tensors)
    blocks = source.layers("blocks", count)
    norm = blocks[0].norm("ln0", 1e-5, centred=True)
    embedding = np.asarray(norm(source.array("emb.weight", 2)))
    return language_model(
        [_layer(block, first=i == 0) for i, block in enumerate(blocks)],
        source.norm("ln_out", 1e-5, centred=True),
        embedding,
        source.tensor("head.weight", 2),
        spare=embedding.shape[1],
    )


def _layer(block: Source, *, first: bool) -> RWKV7Layer:
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
        (block.norm("ln1", 1e-5, centred=True), block.norm("ln2", 1e-5, centred=True)),
        1 - jnp.stack(mixes),
        att.dense("receptance"),
        att.dense("key"),
        att.dense("value"),
        low("w"),
        low("a"),
        None if first else low("v"),
        low("g"),
        flat("k_k"),
        flat("k_a"),
        bonus,
        Norm(ln_x.weight, ln_x.bias, ln_x.eps, True, H),
        DeltaRule(RWKV7(Heads(H, N, N))),
        att.dense("output"),
        ffn.dense("key"),
        ffn.dense("value"),
    )
