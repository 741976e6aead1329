"""RecurrentGemma (Griffin): recurrent layers and, every so often, one of local attention."""

from typing import Any

from ...cells import LinearRecurrence, RGLRU
from ...cells.layers import AbstractLayer, AttentionLayer, GatedLayer
from ...cells.parts import identity, LocalAttention
from .model import Source


def griffin_layer(layer: Source, index: int) -> AbstractLayer:
    """A layer of the kind that the configuration has at this place."""
    kinds = layer.config.get("block_types", ["recurrent", "recurrent", "attention"])
    known = isinstance(kinds, list) and set(kinds) <= {"recurrent", "attention"}
    if not known or not kinds:
        raise ValueError(
            f"config.json has block_types = {kinds!r:.60}; recurrent and attention are read"
        )
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
    size = block.whole("hidden_size") // heads
    settings: dict[str, Any] = block.config | (block.config.get("rope_parameters") or {})
    return LocalAttention(
        *(block.dense(f"{part}_proj") for part in "qkvo"),
        heads=heads,
        window=block.whole("attention_window_size", 2048),
        rotated=int(size * settings.get("partial_rotary_factor", 0.5)),
        base=float(settings.get("rope_theta", 10000.0)),
    )
