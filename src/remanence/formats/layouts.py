r"""Other libraries' names and gate orders, turned into torch's.

| library | LSTM | GRU | matrices |
|---|---|---|---|
| torch | i, f, g, o | r, z, n | gates × inputs |
| keras | i, f, g, o | z, r, n (`reset_after=True`) | inputs × gates |
| flax | one matrix a gate: `ii if ig io`, `hi hf hg ho` | `ir iz in`, `hr hz hn` | inputs × units |
| flax.nnx | joined: `dense_i`, `dense_h` in torch's order | the same | inputs × gates |

Flax's simple cell has one matrix a side: `i`, `h` (`dense_i`, `dense_h` in nnx). Whether it was made
with `residual=True`, which adds the state inside the tanh, its weights do not say.
"""

from collections.abc import Callable

import numpy as np

from .._natural_sort import natural_sort_key
from .keras.layers import weights_of
from .safetensors import Tensors


LAYOUTS = ("torch", "keras", "flax")


def as_torch(tensors: Tensors, layout: str) -> Tensors:
    """The same tensors under torch's names and in torch's order."""
    if layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, got {layout!r}")
    named: dict[str, Callable[[Tensors], Tensors]] = {
        "torch": dict,
        "keras": _from_keras,
        "flax": _from_flax,
    }
    # Flax and Keras join the parts of a name with either sign.
    return named[layout]({name.replace("/", "."): t for name, t in tensors.items()})


def _from_keras(tensors: Tensors) -> Tensors:
    layers = [name for name in tensors if _last(name) == "recurrent_kernel"]
    if not layers:
        raise ValueError("no recurrent_kernel is in the file; layout='keras' needs one")
    out: Tensors = {}
    used: set[str] = set()
    for depth, name in enumerate(sorted(layers, key=natural_sort_key)):
        prefix = name.removesuffix("recurrent_kernel")
        used |= {name, prefix + "kernel", prefix + "bias"}
        kernel, bias = tensors.get(prefix + "kernel"), tensors.get(prefix + "bias")
        weights = weights_of(prefix.rstrip(".") or "the layer", kernel, tensors[name], bias)
        b_x, b_h = weights.b_x, weights.b_h
        order = np.arange(len(weights.W_h))
        if weights.kind == "GRU":
            if b_x is not None and b_h is None:
                raise ValueError(
                    "a Keras GRU with reset_after=False has other equations than torch's; "
                    "its .h5 or .keras file, or one with reset_after=True would do"
                )
            z, r, n = np.split(order, 3)
            order = np.concatenate([r, z, n])
        out[f"rnn.weight_hh_l{depth}"] = weights.W_h[order]
        out[f"rnn.weight_ih_l{depth}"] = weights.W_x[order]
        if b_x is not None:
            b_h = np.zeros_like(b_x) if b_h is None else b_h
            out[f"rnn.bias_ih_l{depth}"] = b_x[order]
            out[f"rnn.bias_hh_l{depth}"] = b_h[order]
    return out | _dense({n: t for n, t in tensors.items() if n not in used})


GATES = {"hi": ("i", "f", "g", "o"), "hr": ("r", "z", "n"), "h": ("",), "dense_h": ("",)}
"""The recurrent matrix by which a Flax layer is known, and its gates in torch's order."""


def _from_flax(tensors: Tensors) -> Tensors:
    # nnx calls one gate `if_`, since `if` is a word of Python's.
    tensors = {name.replace("if_.", "if."): t for name, t in tensors.items()}
    layers = [
        (name.removesuffix(f"{mark}.kernel"), mark)
        for name in sorted(tensors, key=natural_sort_key)
        for mark in GATES
        if name.endswith(f"{mark}.kernel") and _whole(name, f"{mark}.kernel")
    ]
    if not layers:
        raise ValueError(
            "no hi.kernel (LSTM), hr.kernel (GRU), h.kernel (simple cell) or "
            "dense_h.kernel (nnx) is in the file; layout='flax' needs one"
        )
    out: Tensors = {}
    used: set[str] = set()
    for depth, (prefix, mark) in enumerate(layers):
        for side, short in (("i", "ih"), ("h", "hh")):
            stem = f"dense_{side}" if mark.startswith("dense") else side
            names = [f"{prefix}{stem}{gate}" for gate in GATES[mark]]
            for name in names:
                if f"{name}.kernel" not in tensors:
                    raise ValueError(f"{prefix}{mark}.kernel is in the file, but not {name}.kernel")
            kernels = [tensors[f"{name}.kernel"] for name in names]
            shape = kernels[0].shape
            if len(shape) != 2 or any(kernel.shape != shape for kernel in kernels):
                shapes = ", ".join(str(kernel.shape) for kernel in kernels)
                raise ValueError(
                    f"the kernels {', '.join(names)} have shapes {shapes}; matrices of "
                    "one shape would do"
                )
            empty = np.zeros(shape[1], kernels[0].dtype)
            biases = [tensors.get(f"{name}.bias", empty) for name in names]
            for name, bias in zip(names, biases, strict=True):
                if bias.shape != shape[1:]:
                    raise ValueError(f"{name}.bias has shape {bias.shape}; {shape[1:]} would do")
            kernels = [kernel.T for kernel in kernels]
            out[f"rnn.weight_{short}_l{depth}"] = np.concatenate(kernels)
            out[f"rnn.bias_{short}_l{depth}"] = np.concatenate(biases)
            used |= {f"{name}.{what}" for name in names for what in ("kernel", "bias")}
    return out | _dense({n: t for n, t in tensors.items() if n not in used})


def _dense(tensors: Tensors) -> Tensors:
    """Dense kernels transposed to torch's `weight`, embeddings as they are."""
    out: Tensors = {}
    for name, tensor in tensors.items():
        stem = name.removesuffix(_last(name))
        match _last(name):
            case "kernel":
                out[stem + "weight"] = tensor.T
            case "embeddings" | "embedding":
                out[(stem or "embedding.") + "weight"] = tensor
            case _:
                out[name] = tensor
    return out


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _whole(name: str, ending: str) -> bool:
    """Whether `ending` begins at a dot (or at the start) of the name."""
    stem = name.removesuffix(ending)
    return stem == "" or stem.endswith(".")
