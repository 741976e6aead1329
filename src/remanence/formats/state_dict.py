"""torch's state dict of an RNN, LSTM or GRU, read into a network and written back."""

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..cells import Elman, GRU, LSTM, Stack
from ..nets import Recurrent
from .ends import bias_of, biased, ends_of
from .safetensors import real, Tensors


KINDS = {1: "rnn", 3: "gru", 4: "lstm"}
ACTIVATIONS: dict[str, Callable] = {"tanh": jnp.tanh, "relu": jax.nn.relu}
LAYER = re.compile(r"^(?P<prefix>.*?)weight_ih(?P<layer>_l(\d+))?$")
RECURRENT = re.compile(r"(^|\.)(weight|bias)_([ih]h|hr)(_l\d+)?(_reverse)?$")
HEARS = re.compile(r"(^|\.)weight_ih(_l0)?$")


def recurrent_prefix(tensors: Tensors, prefix: str | None) -> str:
    """What stands before `weight_ih_l0`: the name of the recurrent module."""
    found = sorted({m["prefix"] for name in tensors if (m := LAYER.match(name))})
    if prefix is not None:
        dotted = prefix if prefix == "" or prefix.endswith(".") else f"{prefix}."
        if dotted not in found:
            raise ValueError(f"no recurrent module is called {prefix!r}, only {found}")
        return dotted
    if not found:
        names = ", ".join(sorted(tensors)[:4]) or "nothing"
        raise ValueError(
            f"no weight_ih_l0 is among the tensors ({names} …); torch's names for "
            "RNN, LSTM or GRU would do, or layout='keras' or 'flax'"
        )
    if len(found) > 1:
        raise ValueError(
            f"several recurrent modules came, {found}; name one by prefix="
        )
    return found[0]


def cell_from(tensors: Tensors, prefix: str, activation: Callable) -> Any:
    """The cell (a stack for several layers) under a prefix, its names taken out."""
    for word, kind in (("_reverse", "bidirectional"), ("weight_hr", "projected")):
        if any(name.startswith(prefix) and word in name for name in tensors):
            raise ValueError(
                f"{kind} networks are not supported; a plain RNN, LSTM or GRU would do"
            )
    layers = []
    while True:
        ending = f"_l{len(layers)}"
        if f"{prefix}weight_ih{ending}" not in tensors:
            if layers or f"{prefix}weight_ih" not in tensors:
                break
            ending = ""
        layers.append(_layer(tensors, prefix, ending, activation))
        if ending == "":
            break
    return layers[0] if len(layers) == 1 else Stack(tuple(layers))


def _layer(tensors: Tensors, prefix: str, ending: str, activation: Callable) -> Any:
    def taken(name: str, needed: bool) -> np.ndarray | None:
        whole = f"{prefix}{name}{ending}"
        if whole not in tensors and needed:
            raise ValueError(f"{whole} is missing from the file")
        found = tensors.pop(whole, None)
        return None if found is None else real(whole, found)

    W_x, W_h = taken("weight_ih", True), taken("weight_hh", True)
    b_ih, b_hh = taken("bias_ih", False), taken("bias_hh", False)
    assert W_x is not None and W_h is not None
    if W_x.ndim != 2 or W_h.ndim != 2 or W_x.shape[0] != W_h.shape[0]:
        raise ValueError(
            f"weight_ih{ending} {W_x.shape} and weight_hh{ending} {W_h.shape} must be "
            "matrices with as many rows as each other"
        )
    gates, units = W_h.shape
    if units == 0 or gates % units or gates // units not in KINDS:
        raise ValueError(
            f"weight_hh{ending} is {gates} × {units}; N, 3N or 4N rows for N columns would do"
        )
    kind = KINDS[gates // units]
    if (b_ih is None) != (b_hh is None) or any(
        b is not None and b.shape != (gates,) for b in (b_ih, b_hh)
    ):
        raise ValueError(
            f"the two biases of layer {ending or 0} must have {gates} entries"
        )
    W_h, W_x = jnp.asarray(W_h), jnp.asarray(W_x)
    if b_ih is None or b_hh is None:
        match kind:
            case "rnn":
                return Elman(W_h, W_x, None, activation)
            case "lstm":
                return LSTM(W_h, W_x)
        return GRU(W_h, W_x)
    if kind == "gru":
        # The candidate's recurrent bias stands inside the reset, so it stays apart.
        b = b_ih + np.concatenate([b_hh[: 2 * units], np.zeros_like(b_hh[2 * units :])])
        return GRU(W_h, W_x, jnp.asarray(b), jnp.asarray(b_hh[2 * units :]))
    b = jnp.asarray(b_ih + b_hh)
    return Elman(W_h, W_x, b, activation) if kind == "rnn" else LSTM(W_h, W_x, b)


def tensors_of(cell: Any, prefix: str = "") -> Tensors:
    """A cell's weights under torch's names; torch loads them strictly."""
    out: Tensors = {}
    layers = cell.cells if isinstance(cell, Stack) else (cell,)
    if any((layer.b is None) != (layers[0].b is None) for layer in layers):
        raise ValueError(
            "torch has biases in every layer or in none; these layers differ"
        )
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


def network(
    tensors: Tensors,
    *,
    activation: Callable,
    prefix: str | None,
    embedding: str | None,
    readout: str | None,
    positions: Any,
    live: bool = False,
) -> tuple[Recurrent, dict[str, str]]:
    """The network in a state dict, and which names became embedding and readout.

    Of a file (not of a `live` module, which is run and compared) a readout is not
    guessed where other tensors may stand between it and the state.
    """
    rest = dict(tensors)
    where = recurrent_prefix(rest, prefix)
    cell = cell_from(rest, where, activation)
    layers = cell.cells if isinstance(cell, Stack) else (cell,)
    inputs, units = layers[0].W_x.shape[1], layers[-1].W_h.shape[1]
    # What other recurrent modules leave here is neither an embedding nor a readout,
    # but may act between them and this one.
    plain = {name: t for name, t in rest.items() if not RECURRENT.search(name)}
    hear = {name: t for name, t in rest.items() if HEARS.search(name)}
    ends = ends_of(
        plain,
        inputs=inputs,
        units=units,
        embedding=embedding,
        readout=readout,
        others=None if live else plain | hear,
    )
    array = lambda name: jnp.asarray(rest[name]) if name else None
    bias = bias_of(ends.readout) if biased(ends.readout, plain) else ""
    W_y, b_y, W_e = (array(name) for name in (ends.readout, bias, ends.embedding))
    names = {"rnn": where, "embedding": ends.embedding, "readout": ends.readout}
    names |= {f"no {end}": remark for end, remark in ends.remarks.items()}
    if left := sorted(set(rest) - {ends.embedding, ends.readout, bias}):
        names["unused"] = ", ".join(left)
    return Recurrent(cell, W_y, b_y, W_e, positions), names
