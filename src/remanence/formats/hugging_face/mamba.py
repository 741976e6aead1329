"""Mamba, Falcon Mamba and Mamba-2 as transformers saves them."""

import math
from typing import Any

from ...cells import LinearRecurrence, Mamba, Mamba2
from ...cells.layers import GatedLayer
from ...cells.parts import Norm
from .model import rows, Source


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
        raise ValueError(
            f"config.json has time_step_limit = {given!r:.60}; two numbers would do"
        ) from None
    return low, high
