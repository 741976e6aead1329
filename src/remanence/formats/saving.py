"""Networks into files and back: torch's names where torch has the module, else the cell's fields.

torch loads the first strictly. Of the second the structure stands in the metadata as JSON,
and what does not fit the annotations of a cell's fields is refused.
"""

import dataclasses
import json
import os
from typing import Any, get_args, get_type_hints

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import jaxtyped

from .. import cells
from ..cells import Elman, GRU, LSTM, Stack
from ..nets import Recurrent
from . import safetensors
from .reading import assemble, Options, Readout, refused_misfits, Taken
from .recurrent_cell import PLAIN
from .safetensors import real, Tensors


ACTIVATIONS = {name: PLAIN[name] for name in ("tanh", "relu", "sigmoid", "softplus")}
ACTIVATIONS |= {"leaky_relu": jax.nn.leaky_relu}
NAMES = {function: name for name, function in ACTIVATIONS.items()}
DEEPEST = 1000
KINDS = ("Linear", "Diagonal", "Elman", "LSTM", "GRU", "Residual")


def save(net: Any, path: str | os.PathLike) -> None:
    """Write a network (or a bare cell) so that `load`, and torch strictly, read it back.

    Without embedding and readout the names are those of the bare torch module;
    else they stand under `embedding.`, `rnn.` and `readout.`.
    """
    net, ends = with_ends(net)
    metadata: dict[str, Any] = {"positions": net.readout}
    described = torch_module(net.cell)
    if described is None:
        metadata["cell"], tensors = structure_of(net.cell, "cell.")
    else:
        if "nonlinearity" in described[2]:
            metadata["activation"] = described[2]["nonlinearity"]
        metadata |= {n.removesuffix(".weight"): n for n in ends if n.endswith(".weight")}
        tensors = tensors_of(net.cell, "rnn." if ends else "")
    words = json.dumps(metadata, sort_keys=True)
    safetensors.write(path, safetensors.finite(tensors | ends), {"remanence": words})


def with_ends(net: Any) -> tuple[Recurrent, Tensors]:
    """A network (or a bare cell as one), and its embedding and readout under torch's names."""
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    if net.head is not None:
        raise ValueError("a head that is any function has no format; W_y and b_y have one")
    if net.W_y is None and net.b_y is not None:
        raise ValueError("b_y without W_y has no format; the identity as W_y would do")
    given = {"embedding.weight": net.embedding, "readout.weight": net.W_y, "readout.bias": net.b_y}
    return net, {name: np.asarray(array) for name, array in given.items() if array is not None}


def tensors_of(cell: Any, prefix: str = "") -> Tensors:
    """A cell's weights under torch's names; torch loads them strictly."""
    out: dict[str, Any] = {}
    layers = cell.cells if isinstance(cell, Stack) else (cell,)
    if any((layer.b is None) != (layers[0].b is None) for layer in layers):
        raise ValueError("torch has biases in every layer or in none; these layers differ")
    for depth, layer in enumerate(layers):
        out |= {f"weight_ih_l{depth}": layer.W_x, f"weight_hh_l{depth}": layer.W_h}
        b_n = getattr(layer, "b_n", None)
        if layer.b is not None:
            b_hh = np.zeros_like(layer.b)
            if b_n is not None:
                b_hh[-b_n.size :] = np.asarray(b_n)
            out |= {f"bias_ih_l{depth}": layer.b, f"bias_hh_l{depth}": b_hh}
        elif b_n is not None:
            raise ValueError("torch's GRU has both biases or none; give b as zeros")
    return {f"{prefix}{name}": np.asarray(values) for name, values in out.items()}


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


def structure_of(cell: Any, prefix: str) -> tuple[dict, Tensors]:
    """The structure of a cell as plain JSON, and its tensors under `prefix`."""
    if isinstance(cell, Stack):
        parts = [structure_of(c, f"{prefix}{i}.") for i, c in enumerate(cell.cells)]
        tensors = {name: t for _, more in parts for name, t in more.items()}
        return {"kind": "Stack", "cells": [structure for structure, _ in parts]}, tensors
    kind = type(cell).__name__
    if callable(getattr(cell, "save", None)):
        raise ValueError(f"a {kind} writes itself: its own save(path) would do")
    if kind not in KINDS or type(cell) is not getattr(cells, kind):
        known = f"{', '.join(KINDS)} and Stack have"
        raise ValueError(f"a cell of kind {kind} has no file format; {known}")
    structure: dict[str, Any] = {"kind": kind}
    tensors: Tensors = {}
    for field in dataclasses.fields(cell):
        value, name = getattr(cell, field.name), f"{prefix}{field.name}"
        if eqx.is_array_like(value) and not isinstance(value, float | int):
            array = np.asarray(value)
            pair = {f"{name}.real": np.real(array), f"{name}.imag": np.imag(array)}
            tensors |= pair if np.iscomplexobj(array) else {name: array}
        elif value is None or isinstance(value, float | int):
            structure[field.name] = value
        elif value in NAMES:
            structure[field.name] = {"function": NAMES[value]}
        else:
            known = ", ".join(ACTIVATIONS)
            raise ValueError(f"{field.name} = {value} has no name in a file; {known} have")
    return structure, tensors


def cell_from(structure: Any, tensors: Tensors, prefix: str, *, depth: int = 0) -> Any:
    """The cell that `structure_of` wrote; anything else is refused."""
    if not isinstance(structure, dict) or structure.get("kind") not in (*KINDS, "Stack"):
        raise ValueError("the file's metadata does not describe a cell of ours")
    if structure["kind"] == "Stack":
        layers = structure.get("cells")
        if depth > 2 or not isinstance(layers, list) or not 0 < len(layers) <= DEEPEST:
            raise ValueError(f"a stack of 1 to {DEEPEST} cells, at most three deep, would do")
        parts = [(each, tensors, f"{prefix}{i}.") for i, each in enumerate(layers)]
        return Stack(tuple(cell_from(*part, depth=depth + 1) for part in parts))
    kind = getattr(cells, structure["kind"])
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        name = f"{prefix}{field.name}"
        if name in tensors:
            values[field.name] = jnp.asarray(tensors[name])
        elif f"{name}.real" in tensors and f"{name}.imag" in tensors:
            re, im = (real(p, tensors[p]) for p in (f"{name}.real", f"{name}.imag"))
            values[field.name] = jnp.asarray(re + 1j * im)
        elif field.name in structure:
            values[field.name] = _plain(structure[field.name], field.name)
    refuse_misfits(kind, values, prefix)
    with refused_misfits(f"the file's {structure['kind']} does not fit"):
        cell = kind(**values)
        # One step tells whether what is left of the shapes fits together.
        h = cell.initial_state()
        dtype = jax.tree.leaves(h)[0].dtype
        jax.eval_shape(cell, h, jnp.zeros(cell.input_size, dtype) if cell.input_size else None)
        return cell


def refuse_misfits(kind: type, values: dict[str, Any], prefix: str = "") -> None:
    """Hold values against the shapes in a class's annotations, to the last entry.

    JAX would stretch a bias of one entry over all units without a word.
    """
    with jaxtyped("context"):  # one meaning of `units` for all fields
        for field, hint in get_type_hints(kind).items():
            value = values.get(field)
            if value is not None and not isinstance(value, hint):
                parts = get_args(hint) or (hint,)
                shapes = [f"[{part.dim_str}]" for part in parts if hasattr(part, "dim_str")]
                came = f"{jnp.asarray(value).dtype} {list(jnp.shape(value))}"
                would = f"floating {' or '.join(shapes)} that fits the other tensors would do"
                raise ValueError(f"{prefix}{field} is {came}; {would}")


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        if value.get("function") not in ACTIVATIONS:
            raise ValueError(f"{name} names an unknown function, {value.get('function')}")
        return ACTIVATIONS[value["function"]]
    if value is None or (isinstance(value, float | int) and abs(value) < 1e30):
        return None if value is None else float(value)
    came = repr(value) if isinstance(value, str | float) else type(value).__name__
    raise ValueError(f"{name} must be a number that float32 holds, got {came:.40}")


def saved_network(
    described: dict[str, Any], tensors: Tensors, options: Options
) -> tuple[Recurrent, Taken]:
    """The network of a file that `save` wrote by a cell's fields."""
    W_y, W_e, b_y = "readout.weight", "embedding.weight", tensors.get("readout.bias")
    cell = cell_from(described["cell"], tensors, "cell.")
    readout = Readout(W_y, tensors[W_y], b_y) if W_y in tensors else ""
    embedding = (W_e, tensors[W_e]) if W_e in tensors else None
    taken = Taken(described["cell"]["kind"], "")
    return assemble(options.filled_from(described), taken, [cell], embedding, readout)
