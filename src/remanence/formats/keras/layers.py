"""Keras's LSTM, GRU and SimpleRNN as cells.

Kernels are inputs × gates. Gates are i, f, c, o (LSTM) and z, r, h (GRU). A GRU's bias of
shape (2, 3N) is that of `reset_after`, one of 3N that of the reset before the product.
CuDNN's layers keep both biases in one vector and each gate's matrix as torch does:
`kernel.reshape(N, inputs)` for the inputs, not transposed for the state.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..recurrent_cell import KINDS, PLAIN, recurrent_cell, Shaped
from ..safetensors import Tensors


Version = tuple[int, ...]
Arrays = tuple[Any, Any, Any]
"""Kernel, recurrent kernel and bias of a layer, the first and the last None where it has none."""


def cell_of(
    title: str, arrays: Arrays, settings: dict[str, Any], version: Version
) -> tuple[str, bool, Any]:
    """The kind, whether it is CuDNN's, and the cell, by its settings (or its version's defaults)."""
    W_x, W_h, b_x, b_h, cudnn = _torch_matrices(title, *arrays)
    kind = KINDS[W_h.shape[0] // W_h.shape[1]]
    outer = _function(settings.get("activation", "tanh"), version)
    usual = "sigmoid" if version >= (2, 3) or cudnn else "hard_sigmoid"
    gate = _function(settings.get("recurrent_activation", usual), version)
    functions = {"RNN": (outer,), "GRU": (gate, outer), "LSTM": (gate, outer, outer)}[kind]
    order, after = np.arange(len(W_h)), True
    if kind == "GRU":
        z, r, n = np.split(order, 3)
        order, after = np.concatenate([r, z, n]), b_h is not None
        stated = settings.get("reset_after", after)
        if b_x is None:  # only the settings decide it then
            after = bool(settings.get("reset_after", version >= (2, 3)))
        elif after != bool(stated) and not cudnn:
            raise ValueError(f"{title}'s bias does not go with its reset_after")
    b_x, b_h = (None if b is None else b[order] for b in (b_x, b_h))
    weights = (W_x[order], W_h[order], b_x, b_h)
    return kind, cudnn, recurrent_cell(kind, *weights, functions, reset_after=after)


def _torch_matrices(title: str, kernel: Any, recurrent: Any, bias: Any) -> tuple[Any, ...]:
    """Matrices gates × inputs and gates × units, two biases, and whether they are CuDNN's."""
    if kernel is None:
        raise ValueError(f"{title} has a recurrent kernel, but no kernel")
    if recurrent.ndim != 2 or kernel.ndim != 2 or recurrent.shape[1] != kernel.shape[1]:
        raise ValueError(
            f"{title} has a recurrent kernel {recurrent.shape} and a kernel {kernel.shape}; "
            "matrices with as many columns as each other would do"
        )
    units, gates = recurrent.shape
    if not units or gates not in (units, 3 * units, 4 * units):
        raise ValueError(
            f"{title}'s recurrent kernel is {units} × {gates}; N × N, 3N or 4N would do"
        )
    if bias is not None and gates > units and bias.shape == (2 * gates,):
        blocks = [k.reshape(units, -1) for k in np.split(kernel, gates // units, axis=1)]
        W_h = np.concatenate(np.split(recurrent, gates // units, axis=1))
        return np.concatenate(blocks), W_h, bias[:gates], bias[gates:], True
    b_x = b_h = None
    if bias is not None:
        twice = gates == 3 * units and bias.shape == (2, gates)
        if not twice and bias.shape != (gates,):
            would = f"({gates},)" + f" or (2, {gates})" * (gates == 3 * units)
            raise ValueError(f"{title}'s bias has shape {bias.shape}; {would} would do")
        b_x, b_h = bias if twice else (bias, None)
    return kernel.T, recurrent.T, b_x, b_h, False


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
