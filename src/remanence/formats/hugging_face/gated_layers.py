"""Layers of RecurrentGemma (Griffin), Mamba, Falcon Mamba, Mamba-2 and xLSTM, as transformers saves them."""

import math
from typing import Any

import jax

from ...cells import Heads, LinearRecurrence, Mamba, Mamba2, MLSTM, RGLRU
from ...cells.layers import AbstractLayer, AttentionLayer, GatedLayer
from ...cells.parts import GatedMLP, identity, LocalAttention, Norm
from .model import join_rows, rows, Source


def griffin_layer(layer: Source, index: int) -> AbstractLayer:
    """A layer of the kind that the configuration has at this place."""
    known = lambda v: v != [] and isinstance(v, list) and {*v} <= {"recurrent", "attention"}
    usual = ["recurrent", "recurrent", "attention"]
    kinds = layer.setting("block_types", usual, known, "recurrent and attention")
    eps = layer.number("rms_norm_eps", 1e-6)
    activation = layer.activation("hidden_activation", "gelu_pytorch_tanh")
    norm = layer.norm("temporal_pre_norm", eps, one=1.0)
    mlp = layer.mlp("mlp_block", layer.norm("channel_pre_norm", eps, one=1.0), activation)
    block = layer.under("temporal_block")
    if kinds[index % len(kinds)] == "attention":
        return AttentionLayer(norm, _attention(block), mlp)
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
        activation=identity,
        gate=activation,
    )


def _attention(block: Source) -> LocalAttention:
    heads = block.whole("num_attention_heads")
    maps = [block.dense(f"{part}_proj") for part in "qkvo"]
    size = len(maps[0].W) // heads
    settings: dict[str, Any] = block.config | (block.config.get("rope_parameters") or {})
    return LocalAttention(
        *maps,
        heads=heads,
        window=block.whole("attention_window_size", 2048),
        rotated=int(size * settings.get("partial_rotary_factor", 0.5)),
        base=float(settings.get("rope_theta", 10000.0)),
    )


def mamba_layer(layer: Source, _: int) -> GatedLayer:
    """Mamba; Falcon Mamba normalises the time step, B and C as well."""
    falcon = layer.config.get("model_type") == "falcon_mamba"
    mixer = layer.under("mixer")
    A_log = mixer.array("A_log", 2)
    channels = len(A_log)
    gates = Mamba(
        A_log,
        mixer.array("D", 1),
        mixer.array("x_proj.weight", 2),
        mixer.array("dt_proj.weight", 2),
        mixer.array("dt_proj.bias", 1),
        layer.number("mixer_rms_eps", 1e-6) if falcon else None,
    )
    W_in, W_gate = rows(mixer.dense("in_proj"), slice(channels), slice(channels, 2 * channels))
    return GatedLayer(
        layer.norm("norm", layer.number("layer_norm_epsilon", 1e-5)),
        W_in,
        LinearRecurrence(gates),
        mixer.dense("out_proj"),
        mixer.convolution("conv1d"),
        W_gate,
        activation=layer.activation("hidden_act", "silu"),
    )


def mamba2_layer(layer: Source, _: int) -> GatedLayer:
    """Mamba-2, whose norm behind the gate is of each group of channels."""
    mixer = layer.under("mixer")
    A_log, dt_bias = mixer.array("A_log", 1), mixer.array("dt_bias", 1)
    size, states = layer.whole("head_dim", 64), layer.whole("state_size", 128)
    groups = layer.whole("n_groups", 8)
    limits = _limits(layer.config.get("time_step_limit"))
    gates = Mamba2(A_log, mixer.array("D", 1), dt_bias, size, states, groups, limits)
    inner = len(A_log) * size
    W_gate, W_in = rows(mixer.dense("in_proj"), slice(inner), slice(inner, None))
    eps = layer.number("layer_norm_epsilon", 1e-5)
    return GatedLayer(
        layer.norm("norm", eps),
        W_in,
        LinearRecurrence(gates),
        mixer.dense("out_proj"),
        mixer.convolution("conv1d"),
        W_gate,
        Norm(mixer.array("norm.weight", 1), None, eps, False, groups),
        activation=layer.activation("hidden_act", "silu"),
        norm_last=True,
    )


def _limits(given: Any) -> tuple[float, float]:
    """Of the time step; infinity is saved as an object."""
    plain = lambda v: v.get("__float__", "") if isinstance(v, dict) else v
    try:
        low, high = (float(plain(v)) for v in given or (0.0, math.inf))
    except (TypeError, ValueError):
        came = f"time_step_limit = {given!r:.60}"
        raise ValueError(f"config.json has {came}; two numbers would do") from None
    return low, high


def xlstm_layer(block: Source, _: int) -> GatedLayer:
    """An mLSTM and a gated perceptron: the block of xLSTM's large model."""
    eps = block.number("norm_eps", 1e-6)
    unit, ffn = block.under("mlstm_layer"), block.under("ffn")
    H = block.whole("num_heads", 8)
    q, k, v, i, f = (unit.dense(p) for p in ("q", "k", "v", "igate_preact", "fgate_preact"))
    heads = Heads(H, len(k.W) // H, len(v.W) // H)
    gates = MLSTM(heads, block.number("gate_soft_cap", 15.0), block.number("eps", 1e-6))
    gate, up, down = (ffn.dense(f"proj_{part}") for part in ("up_gate", "up", "down"))
    return GatedLayer(
        block.norm("norm_mlstm", eps),
        join_rows(q, k, v, i, f),
        LinearRecurrence(gates),
        unit.dense("out_proj"),
        None,
        unit.dense("ogate_preact"),
        unit.norm("multihead_norm", eps, centred=True, groups=H),
        GatedMLP(block.norm("norm_ffn", eps), gate, up, down),
        gate=jax.nn.sigmoid,
    )
