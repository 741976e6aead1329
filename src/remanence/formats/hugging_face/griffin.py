"""RecurrentGemma (Griffin) as transformers saves it."""

import jax.numpy as jnp

from ...cells import LinearRecurrence, RGLRU
from ...cells.layers import AbstractLayer, AttentionLayer, GatedLayer
from ...cells.parts import LocalAttention
from ...nets import Recurrent
from .model import language_model, Source


def recurrent_gemma(source: Source) -> Recurrent:
    """Recurrent layers and, every so often, one of local attention."""
    body = source.under("model") if source.has("model.final_norm.weight") else source
    kinds = source.config.get("block_types", ["recurrent", "recurrent", "attention"])
    known = isinstance(kinds, list) and set(kinds) <= {"recurrent", "attention"}
    if not known or not kinds:
        raise ValueError(
            f"config.json has block_types = {kinds!r:.60}; recurrent and attention are read"
        )
    count = source.whole("num_hidden_layers")
    layers = [
        _recurrent(layer) if kinds[i % len(kinds)] == "recurrent" else _attention(layer)
        for i, layer in enumerate(body.layers("layers", count))
    ]
    embedding = body.tensor("embed_tokens.weight", 2)
    # transformers keeps the factor in bfloat16.
    scale = float(jnp.asarray(embedding.shape[1] ** 0.5, jnp.bfloat16))
    tied = not source.has("lm_head.weight")
    return language_model(
        layers,
        body.norm("final_norm", source.number("rms_norm_eps", 1e-6), one=1.0),
        embedding * embedding.dtype.type(scale),
        embedding if tied else source.tensor("lm_head.weight", 2),
        cap=source.number("logits_soft_cap", 30.0),
    )


def _parts(layer: Source):
    eps = layer.number("rms_norm_eps", 1e-6)
    activation = layer.activation("hidden_activation", "gelu_pytorch_tanh")
    norm = layer.norm("temporal_pre_norm", eps, one=1.0)
    channel = layer.norm("channel_pre_norm", eps, one=1.0)
    mlp = layer.mlp("mlp_block", channel, activation)
    return layer.under("temporal_block"), norm, mlp, activation


def _recurrent(layer: Source) -> AbstractLayer:
    block, norm, mlp, activation = _parts(layer)
    unit = block.under("rg_lru")
    gates = RGLRU(
        unit.array("recurrent_param", 1),
        unit.array("recurrent_gate_weight", 3),
        unit.array("recurrent_gate_bias", 2),
        unit.array("input_gate_weight", 3),
        unit.array("input_gate_bias", 2),
        resets=True,
    )
    return GatedLayer(
        norm,
        block.dense("linear_x"),
        LinearRecurrence(gates),
        block.dense("linear_out"),
        block.convolution("conv_1d"),
        block.dense("linear_y"),
        mlp=mlp,
        activation=lambda x: x,
        gate=activation,
    )


def _attention(layer: Source) -> AbstractLayer:
    block, norm, mlp, _ = _parts(layer)
    heads = layer.whole("num_attention_heads")
    rope = layer.config.get("rope_parameters") or {}
    share = rope.get("partial_rotary_factor", layer.config.get("partial_rotary_factor", 0.5))
    size = layer.whole("hidden_size") // heads
    attention = LocalAttention(
        *(block.dense(f"{part}_proj") for part in "qkvo"),
        heads=heads,
        window=layer.whole("attention_window_size", 2048),
        rotated=int(size * share),
        base=float(rope.get("rope_theta", layer.config.get("rope_theta", 10000.0))),
    )
    return AttentionLayer(norm, attention, mlp)
