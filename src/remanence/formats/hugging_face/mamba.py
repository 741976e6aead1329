"""Mamba, Falcon Mamba and Mamba-2 as transformers saves them."""

import math
from typing import Any

from ...cells import LinearRecurrence, Mamba, Mamba2
from ...cells.layers import GatedLayer
from ...cells.parts import Norm
from ...nets import Recurrent
from .model import language_model, rows, Source


def mamba(source: Source) -> Recurrent:
    """Mamba; Falcon Mamba normalises the time step, B and C as well."""
    falcon = source.config.get("model_type") == "falcon_mamba"
    eps = source.number("mixer_rms_eps", 1e-6) if falcon else None
    return _model(source, lambda layer: _mamba_layer(layer, eps))


def _mamba_layer(layer: Source, eps: float | None) -> GatedLayer:
    mixer = layer.under("mixer")
    A_log = mixer.array("A_log", 2)
    channels = len(A_log)
    gates = Mamba(
        A_log,
        mixer.array("D", 1),
        mixer.array("x_proj.weight", 2),
        mixer.array("dt_proj.weight", 2),
        mixer.array("dt_proj.bias", 1),
        eps,
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


def mamba2(source: Source) -> Recurrent:
    """Mamba-2."""
    return _model(source, _mamba2_layer)


def _mamba2_layer(layer: Source) -> GatedLayer:
    mixer = layer.under("mixer")
    A_log, dt_bias = mixer.array("A_log", 1), mixer.array("dt_bias", 1)
    size, states = layer.whole("head_dim", 64), layer.whole("state_size", 128)
    groups = layer.whole("n_groups", 8)
    limits = _limits(layer.config.get("time_step_limit"))
    gates = Mamba2(A_log, mixer.array("D", 1), dt_bias, size, states, groups, limits)
    inner = len(A_log) * size
    W_gate, W_in = rows(mixer.dense("in_proj"), slice(inner), slice(inner, None))
    eps = layer.number("layer_norm_epsilon", 1e-5)
    # The norm behind the gate is of each group of channels.
    weight = mixer.array("norm.weight", 1)
    return GatedLayer(
        layer.norm("norm", eps),
        W_in,
        LinearRecurrence(gates),
        mixer.dense("out_proj"),
        mixer.convolution("conv1d"),
        W_gate,
        Norm(weight, None, eps, False, groups),
        activation=layer.activation("hidden_act", "silu"),
        norm_last=True,
    )


def _limits(given: Any) -> tuple[float, float]:
    """Of the time step; infinity is saved as an object."""
    plain = lambda v: v.get("__float__", "") if isinstance(v, dict) else v
    try:
        low, high = (float(plain(v)) for v in given or (0.0, math.inf))
    except (TypeError, ValueError):
        raise ValueError(
            f"config.json has time_step_limit = {given!r:.60}; two numbers would do"
        ) from None
    return low, high


def _model(source: Source, layer) -> Recurrent:
    body = source.under("backbone") if source.has("backbone.norm_f.weight") else source
    layers = body.layers("layers", source.whole("num_hidden_layers"))
    embedding = body.tensor("embeddings.weight", 2)
    tied = not source.has("lm_head.weight")
    return language_model(
        [layer(one) for one in layers],
        body.norm("norm_f", source.number("layer_norm_epsilon", 1e-5)),
        embedding,
        embedding if tied else source.tensor("lm_head.weight", 2),
    )
