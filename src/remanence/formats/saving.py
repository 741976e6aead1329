"""Networks into files, under the names that torch loads strictly."""

import json
import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..cells import Elman, GRU, LSTM, Stack
from ..nets import Recurrent
from . import native, safetensors
from .safetensors import Tensors


def save(net: Any, path: str | os.PathLike, *, names: dict[str, str] | None = None) -> None:
    """Write a network (or a bare cell) so that `load`, and torch strictly, read it back.

    Without embedding and readout the names are those of the bare torch module;
    else they stand under `embedding.`, `rnn.` and `readout.`, or under what
    `names` gives instead, such as `names={"rnn": "lstm", "readout": "decoder"}`.
    """
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    if net.head is not None:
        raise ValueError("a head that is any function has no file format; W_y and b_y have one")
    called = {part: part for part in ("embedding", "rnn", "readout")} | (names or {})
    metadata: dict[str, Any] = {"positions": net.readout}
    bare = net.embedding is None and net.W_y is None and net.b_y is None
    described = torch_module(net.cell)
    if described is None:
        metadata["cell"], tensors = native.structure_of(net.cell, "cell.")
        called = {part: part for part in called}
    else:
        if "nonlinearity" in described[2]:
            metadata["activation"] = described[2]["nonlinearity"]
        tensors = tensors_of(net.cell, "" if bare else f"{called['rnn']}.")
    ends = (
        ("embedding", "weight", net.embedding),
        ("readout", "weight", net.W_y),
        ("readout", "bias", net.b_y),
    )
    for part, word, array in ends:
        if array is not None:
            tensors[f"{called[part]}.{word}"] = np.asarray(array)
            if described is not None and word == "weight":
                metadata[part] = f"{called[part]}.weight"
    safetensors.finite(tensors)
    words = json.dumps(metadata, sort_keys=True)
    safetensors.write(path, tensors, {"remanence": words})


def tensors_of(cell: Any, prefix: str = "") -> Tensors:
    """A cell's weights under torch's names; torch loads them strictly."""
    out: Tensors = {}
    layers = cell.cells if isinstance(cell, Stack) else (cell,)
    if any((layer.b is None) != (layers[0].b is None) for layer in layers):
        raise ValueError("torch has biases in every layer or in none; these layers differ")
    for depth, layer in enumerate(layers):
        out[f"{prefix}weight_ih_l{depth}"] = np.asarray(layer.W_x)
        out[f"{prefix}weight_hh_l{depth}"] = np.asarray(layer.W_h)
        b_n = getattr(layer, "b_n", None)
        if layer.b is None:
            if b_n is not None:
                raise ValueError("torch's GRU has both biases or none; give b as zeros")
            continue
        b = np.asarray(layer.b)
        b_hh = np.zeros_like(b)
        if b_n is not None:
            b_hh[-b_n.size :] = np.asarray(b_n)
        out[f"{prefix}bias_ih_l{depth}"] = b
        out[f"{prefix}bias_hh_l{depth}"] = b_hh
    return out


def torch_module(cell: Any) -> tuple[str, tuple[int, int], dict[str, Any]] | None:
    """The class of torch.nn that computes the same, its sizes and options; None without one."""
    layers = cell.cells if isinstance(cell, Stack) else (cell,)
    kinds = {type(layer) for layer in layers}
    name = {Elman: "RNN", LSTM: "LSTM", GRU: "GRU"}.get(kinds.pop()) if len(kinds) == 1 else None
    if name is None or len({layer.W_h.shape[1] for layer in layers}) > 1:
        return None
    first: Any = layers[0]
    options: dict[str, Any] = {"num_layers": len(layers), "bias": first.b is not None}
    if name == "RNN":
        words = {jnp.tanh: "tanh", jax.nn.relu: "relu"}
        if len({layer.activation for layer in layers}) > 1 or first.activation not in words:
            return None
        options["nonlinearity"] = words[first.activation]
    return name, (first.W_x.shape[1], first.W_h.shape[1]), options
