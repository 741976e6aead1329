"""Layers of torch's RNN, LSTM and GRU as cells, and cells as torch's tensors."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..cells import Elman, GeneralGRU, GeneralLSTM, GRU, LSTM, Stack
from .safetensors import real, Tensors


KINDS = {1: "rnn", 3: "gru", 4: "lstm"}
FAMILIES = {Elman: "RNN", GRU: "GRU", GeneralGRU: "GRU", LSTM: "LSTM", GeneralLSTM: "LSTM"}
ACTIVATIONS: dict[str, Callable] = {"tanh": jnp.tanh, "relu": jax.nn.relu}


def layer_from(tensors: Tensors, prefix: str, ending: str, activation: Callable) -> Any:
    """One layer as a cell: `weight_ih`, `weight_hh` and the biases, with one ending."""

    def taken(name: str, needed: bool) -> np.ndarray | None:
        whole = f"{prefix}{name}{ending}"
        if whole not in tensors and needed:
            raise ValueError(f"{whole} is missing from the file")
        found = tensors.get(whole)
        return None if found is None else real(whole, found)

    W_x, W_h = taken("weight_ih", True), taken("weight_hh", True)
    b_ih, b_hh = taken("bias_ih", False), taken("bias_hh", False)
    P = taken("weight_hr", False)
    assert W_x is not None and W_h is not None
    if W_x.ndim != 2 or W_h.ndim != 2 or W_x.shape[0] != W_h.shape[0]:
        raise ValueError(
            f"weight_ih{ending} {W_x.shape} and weight_hh{ending} {W_h.shape} must be "
            "matrices with as many rows as each other"
        )
    gates, width = W_h.shape
    units = width if P is None else P.shape[-1]
    if units == 0 or gates % units or gates // units not in KINDS:
        raise ValueError(
            f"weight_hh{ending} is {gates} × {width}; N, 3N or 4N rows for N units would do"
        )
    kind = KINDS[gates // units]
    if P is not None and (kind != "lstm" or P.shape != (width, units)):
        raise ValueError(
            f"weight_hr{ending} {P.shape} must be a projection of an LSTM's {units} units "
            f"to {width}"
        )
    if (b_ih is None) != (b_hh is None) or any(
        b is not None and b.shape != (gates,) for b in (b_ih, b_hh)
    ):
        raise ValueError(f"the two biases of layer {ending or 0} must have {gates} entries")
    b = b_n = None
    if b_ih is not None and b_hh is not None:
        b, b_n = b_ih + b_hh, None
        if kind == "gru":
            # The candidate's recurrent bias stands inside the reset, so it stays apart.
            b, b_n = b_ih + b_hh, b_hh[2 * units :]
            b[2 * units :] = b_ih[2 * units :]
    array = lambda a: None if a is None else jnp.asarray(a)
    W_h, W_x, b = jnp.asarray(W_h), jnp.asarray(W_x), array(b)
    if P is not None:
        return GeneralLSTM(W_h, W_x, b, jnp.asarray(P))
    match kind:
        case "rnn":
            return Elman(W_h, W_x, b, activation)
        case "lstm":
            return LSTM(W_h, W_x, b)
    return GRU(W_h, W_x, b, array(b_n))


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


def kind_of(cell: Any) -> str | None:
    """`rnn`, `lstm` or `gru` where torch has such a module, else None."""
    layers = cell.cells if isinstance(cell, Stack) else (cell,)
    kinds = {Elman: "rnn", LSTM: "lstm", GRU: "gru"}
    found = {kinds.get(type(layer)) for layer in layers}
    activations = {layer.activation for layer in layers if isinstance(layer, Elman)}
    known = len(activations) <= 1 and activations <= set(ACTIVATIONS.values())
    sizes = {layer.W_h.shape[1] for layer in layers if type(layer) in kinds}
    return found.pop() if len(found) == 1 and known and len(sizes) == 1 else None
