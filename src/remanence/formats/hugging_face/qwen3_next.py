"""Qwen3-Next as transformers saves it: its gated delta layers.

Full attention remembers every token, so a model that has some has no recurrent state of
fixed size: such a model is refused, by the layers' names. Its delta layers are networks of
their own, driven by vectors.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...cells import Blocks, DeltaRule, GatedDelta, Heads
from ...cells.layers import GatedLayer
from ...cells.parts import Experts, Norm
from ...nets import Recurrent
from ..reading import FullAttention
from .model import join_rows, rows, Source


def delta_layers(source: Source) -> dict[str, Callable[[Source], Recurrent]]:
    """The gated delta layers of a model that has full attention too, each by its name."""
    body = source.under("model") if source.has("model.norm.weight") else source
    layers = body.numbered("layers", source.whole("num_hidden_layers"))
    full = [layer.has("self_attn.q_proj.weight") for layer in layers]
    width = source.whole("hidden_size", 2048)
    alone = lambda i: Recurrent(Blocks((qwen3_next_layer(layers[i], i),), None, width), None)
    delta = [i for i, attends in enumerate(full) if any(full) and not attends]
    return {f"layers.{i}": (lambda source, i=i: alone(i)) for i in delta}


def qwen3_next_layer(layer: Source, index: int) -> GatedLayer:
    """A gated delta layer."""
    if layer.has("self_attn.q_proj.weight"):
        stem = layer.prefix.removesuffix(f"{index}.")
        count = layer.whole("num_hidden_layers")
        attends = lambda i: f"{stem}{i}.self_attn.q_proj.weight" in layer.tensors
        full = [str(i) for i in range(index, count) if attends(i)]
        names = ", ".join(full[:12]) + (" ..." if len(full) > 12 else "")
        raise FullAttention(
            f"layers {names} of {count} are full attention, which "
            "keeps every token and forgets none; a model whose layers all have a state of "
            "fixed size would do, or one of its delta layers by prefix, as 'layers.0'"
        )
    unit = layer.under("linear_attn")
    eps = layer.number("rms_norm_eps", 1e-6)
    H, groups = (layer.whole("linear_num_value_heads", 32), layer.whole("linear_num_key_heads", 16))
    keys = layer.whole("linear_key_head_dim", 128)
    values = layer.whole("linear_value_head_dim", 128)
    heads = Heads(H, keys, values)
    each = H // groups  # value heads of a key head
    # The projections stand group by group; queries and keys are repeated for their heads.
    place = np.arange(groups * (2 * keys + 2 * each * values)).reshape(groups, -1)
    q, k, v, z = np.split(place, np.cumsum([keys, keys, each * values]), axis=1)
    b, a = np.split(np.arange(2 * H).reshape(groups, -1), 2, axis=1)
    q, k = (np.repeat(part, each, axis=0) for part in (q, k))
    flat = [part.ravel() for part in (q, k, v)]
    qkv, W_gate = rows(unit.dense("in_proj_qkvz"), np.concatenate(flat), z.ravel())
    ba = rows(unit.dense("in_proj_ba"), b.ravel(), a.ravel())
    convolution = unit.convolution("conv1d")
    channel = np.arange(2 * groups * keys + H * values)
    queries, kept, rest = np.split(channel, [groups * keys, 2 * groups * keys])
    twice = lambda part: np.repeat(part.reshape(groups, keys), each, axis=0).ravel()
    weight = convolution.weight[np.concatenate([twice(queries), twice(kept), rest])]
    A_log, bias = unit.array("A_log", 1)[:, None], unit.array("dt_bias", 1)[:, None]
    return GatedLayer(
        layer.norm("input_layernorm", eps, one=1.0),
        join_rows(qkv, *ba),
        DeltaRule(GatedDelta(heads, A_log, bias)),
        unit.dense("out_proj"),
        type(convolution)(weight),
        W_gate,
        Norm(jnp.tile(unit.array("norm.weight", 1), H), None, eps, False, H),
        _perceptron(layer, eps),
        activation=layer.activation("hidden_act", "silu"),
    )


def _perceptron(layer: Source, eps: float) -> Any:
    norm = layer.norm("post_attention_layernorm", eps, one=1.0)
    activation = layer.activation("hidden_act", "silu")
    if layer.has("mlp.gate_proj.weight"):
        return layer.mlp("mlp", norm, activation)
    inside = layer.under("mlp")
    gate_up, down = _experts(inside, layer.whole("num_experts"))
    return Experts(
        norm,
        inside.array("gate.weight", 2),
        gate_up,
        down,
        inside.mlp("shared_expert", None, activation),
        inside.dense("shared_expert_gate"),
        layer.whole("num_experts_per_tok", 10),
        bool(layer.config.get("norm_topk_prob", True)),
        activation,
    )


def _experts(inside: Source, count: int) -> tuple[Any, Any]:
    """In one tensor, or one perceptron each."""
    if inside.has("experts.gate_up_proj"):
        return inside.array("experts.gate_up_proj", 3), inside.array("experts.down_proj", 3)
    each = [inside.under(f"experts.{i}") for i in range(count)]
    both = [join_rows(one.dense("gate_proj"), one.dense("up_proj")).W for one in each]
    return jnp.stack(both), jnp.stack([one.dense("down_proj").W for one in each])
