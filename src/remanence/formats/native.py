"""Our own cells in a safetensors file: tensors by field name, structure as JSON metadata."""

import dataclasses
import textwrap
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import jaxtyped

from .. import cells
from ..nets import Recurrent
from .reading import assemble, Options, Readout, Taken
from .safetensors import real, Tensors


ACTIVATIONS: dict[str, Callable] = {
    "tanh": jnp.tanh,
    "relu": jax.nn.relu,
    "leaky_relu": jax.nn.leaky_relu,
    "sigmoid": jax.nn.sigmoid,
    "softplus": jax.nn.softplus,
}
NAMES = {function: name for name, function in ACTIVATIONS.items()}
DEEPEST = 1000
KINDS = ("Linear", "Diagonal", "Elman", "LSTM", "GRU", "Residual")


def structure_of(cell: Any, prefix: str) -> tuple[dict, Tensors]:
    """The structure of a cell as plain JSON, and its tensors under `prefix`."""
    if isinstance(cell, cells.Stack):
        parts = [structure_of(c, f"{prefix}{i}.") for i, c in enumerate(cell.cells)]
        tensors = {name: t for _, more in parts for name, t in more.items()}
        return {"kind": "Stack", "cells": [structure for structure, _ in parts]}, tensors
    kind = type(cell).__name__
    if callable(getattr(cell, "save", None)):
        raise ValueError(f"a {kind} writes itself: its own save(path) would do")
    if kind not in KINDS or type(cell) is not getattr(cells, kind):
        raise ValueError(
            f"a cell of kind {kind} has no file format; {', '.join(KINDS)} and Stack have"
        )
    structure: dict[str, Any] = {"kind": kind}
    tensors: Tensors = {}
    for field in dataclasses.fields(cell):
        value = getattr(cell, field.name)
        if eqx.is_array_like(value) and not isinstance(value, float | int):
            array = np.asarray(value)
            if np.iscomplexobj(array):
                tensors[f"{prefix}{field.name}.real"] = np.real(array)
                tensors[f"{prefix}{field.name}.imag"] = np.imag(array)
            else:
                tensors[f"{prefix}{field.name}"] = array
        elif value is None or isinstance(value, float | int):
            structure[field.name] = value
        elif value in NAMES:
            structure[field.name] = {"function": NAMES[value]}
        else:
            raise ValueError(
                f"{field.name} = {value} has no name in a file; {', '.join(ACTIVATIONS)} have"
            )
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
        return cells.Stack(tuple(cell_from(*part, depth=depth + 1) for part in parts))
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
    try:
        cell = kind(**values)
        # One step tells whether what is left of the shapes fits together.
        h = cell.initial_state()
        dtype = jax.tree.leaves(h)[0].dtype
        jax.eval_shape(cell, h, jnp.zeros(cell.input_size, dtype) if cell.input_size else None)
    except (TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"the file's {structure['kind']} does not fit: {error}") from None
    return cell


def refuse_misfits(kind: type, values: dict[str, Any], prefix: str = "") -> None:
    """Hold values against the shapes in a class's annotations, to the last entry.

    JAX would stretch a bias of one entry over all units without a word.
    """
    with jaxtyped("context"):  # one meaning of `units` for all fields
        for field, hint in get_type_hints(kind).items():
            value = values.get(field)
            if value is not None and not isinstance(value, hint):
                shapes = [
                    f"[{p.dim_str}]" for p in get_args(hint) or (hint,) if hasattr(p, "dim_str")
                ]
                came = f"{jnp.asarray(value).dtype} {list(jnp.shape(value))}"
                would = f"floating {' or '.join(shapes)} that fits the other tensors would do"
                raise ValueError(f"{prefix}{field} is {came}; {would}")


def _plain(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        if value.get("function") not in ACTIVATIONS:
            raise ValueError(f"{name} names an unknown function, {value.get('function')}")
        return ACTIVATIONS[value["function"]]
    if value is None:
        return None
    if isinstance(value, float | int) and abs(value) < 1e30:
        return float(value)
    came = repr(value) if isinstance(value, str | float) else type(value).__name__
    raise ValueError(
        f"{name} must be a number that float32 holds, got {textwrap.shorten(came, 40)}"
    )


def network(
    described: dict[str, Any], tensors: Tensors, options: Options
) -> tuple[Recurrent, Taken]:
    """A network of ours, whose file describes it fully."""
    W_y, W_e = "readout.weight", "embedding.weight"
    cell, readout = cell_from(described["cell"], tensors, "cell."), ""
    if W_y in tensors:
        readout = Readout(W_y, tensors[W_y], tensors.get("readout.bias"))
    embedding = (W_e, tensors[W_e]) if W_e in tensors else None
    taken = Taken(described["cell"]["kind"], "")
    return assemble(options.filled_from(described), taken, [cell], embedding, readout)
