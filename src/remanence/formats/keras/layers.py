"""Keras's LSTM, GRU and SimpleRNN as cells.

Kernels are inputs × gates. Gates are i, f, c, o (LSTM) and z, r, h (GRU). A GRU's bias of
shape (2, 3N) is that of `reset_after`, one of 3N that of the reset before the product.
CuDNN's layers keep both biases in one vector and each gate's matrix as torch does:
`kernel.reshape(N, inputs)` for the inputs, not transposed for the state.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..recurrent_cell import kind_of, PLAIN, recurrent_cell, Shaped
from ..safetensors import Tensors


Version = tuple[int, ...]
Arrays = tuple[Any, Any, Any]
"""Kernel, recurrent kernel and bias of a layer, the first and the last None where it has none."""


def cell_of(
    title: str, arrays: Arrays, settings: dict[str, Any], version: Version
) -> tuple[str, bool, Any]:
    """The kind, whether it is CuDNN's, and the cell, by its settings (or its version's defaults)."""
    W_x, W_h, bias = (None if array is None else array.T for array in arrays)
    kind = kind_of(title, W_x, W_h)
    assert W_x is not None and W_h is not None
    gates, units = W_h.shape
    cudnn = twice = False
    if bias is not None and gates > units and bias.shape == (2 * gates,):
        cudnn = True
        blocks = np.split(W_x, gates // units)
        W_x = np.concatenate([block.T.reshape(units, -1) for block in blocks])
        W_h = np.concatenate([block.T for block in np.split(W_h, gates // units)])
        bias = bias.reshape(2, gates).T
    b_x, b_h = bias, None
    if bias is not None and (cudnn or (kind == "GRU" and bias.shape == (gates, 2))):
        twice, (b_x, b_h) = True, bias.T
    outer = _function(settings.get("activation", "tanh"), version)
    usual = "sigmoid" if version >= (2, 3) or cudnn else "hard_sigmoid"
    gate = _function(settings.get("recurrent_activation", usual), version)
    functions = {"RNN": (outer,), "GRU": (gate, outer), "LSTM": (gate, outer, outer)}[kind]
    stated = settings.get("reset_after", twice if bias is not None else version >= (2, 3))
    if kind == "GRU" and bias is not None and not cudnn and bool(stated) != twice:
        raise ValueError(f"{title}'s bias does not go with its reset_after")
    after = bool(stated) or cudnn
    weights = (W_x, W_h, b_x, b_h)
    cell = recurrent_cell(title, kind, *weights, functions, order="keras", reset_after=after)
    return kind, cudnn, cell


def _function(name: Any, version: Version) -> Callable:
    """An activation by its name; hard_sigmoid changed its slope with Keras 3."""
    known = PLAIN | {
        "hard_sigmoid": Shaped("hardsigmoid", 1 / 6 if version >= (3, 0) else 0.2, 0.5),
        "elu": Shaped("elu", 1.0, 0.0),
        "leaky_relu": Shaped("leakyrelu", 0.2, 0.0),
    }
    name = "linear" if name is None else name
    if not isinstance(name, str) or name not in known:
        words = ", ".join(known)
        raise ValueError(f"the activation {name!a:.60} is not known; {words} are")
    return known[name]


def recurrent_arrays(arrays: Tensors) -> dict[str, Arrays]:
    """The arrays of each recurrent part below a layer, by its place."""
    found: dict[str, Arrays] = {}
    named = {name.removesuffix(":0"): tensor for name, tensor in arrays.items()}
    for name, tensor in named.items():
        place, _, last = name.rpartition("/")
        at = lambda what, place=place: named.get(f"{place}/{what}" if place else what)
        if last == "recurrent_kernel":
            found[place] = at("kernel"), tensor, at("bias")
        elif last == "1" and place.endswith("vars") and "cell" in place and tensor.ndim == 2:
            found[place] = at("0"), tensor, at("2")
    return found
