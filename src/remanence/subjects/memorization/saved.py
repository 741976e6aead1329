r"""A memory in a file, with all that is needed to prove it again (`checked`).

Tensors in safetensors, everything else as JSON in its metadata. A tanh memory of up
to 2,048 units has the names of `torch.nn.RNN`, so that torch and `rm.load` read
it; a larger one keeps its permutation as a rule, since the matrix would fill the
disk.
"""

import dataclasses
import os
from typing import Any

import numpy as np

from ...formats import safetensors
from .memory import Memory
from .structured import Balanced, Beginning, Companion, Cycle, Spelled, Turns
from .words import END
from .written import Written


TORCH_UNITS = 2048
"""A tanh memory of more units is not written out for torch."""
TORCH = {
    "W_h": "rnn.weight_hh_l0",
    "W_x": "rnn.weight_ih_l0",
    "W_y": "readout.weight",
    "b_y": "readout.bias",
    "h_0": "h_0",
}
PLAIN = {name: name for name in TORCH}


def save_memory(memory: Memory, path: str | os.PathLike) -> None:
    """Write a memory; symbols must be text (or `<END>`), since JSON holds the alphabet."""
    word = memory.word
    if not all(isinstance(s, str) or s is END for s in word.alphabet):
        raise ValueError("only memories of text can be saved: symbols must be strings")
    written = memory.written
    if memory.exact is not None and memory.method != "shift":
        written = memory.exact
    names = TORCH if standard(memory) else PLAIN
    if names is TORCH:
        written = _dense(written)
    tensors: dict[str, np.ndarray] = {}
    structure: dict[str, Any] = {}
    for field, name in names.items():
        _put(getattr(written, field), field, name, tensors, structure)
    if names is TORCH:
        units = memory.dimension
        tensors.setdefault(TORCH["W_x"], np.zeros((units, len(memory.inputs))))
        tensors["rnn.bias_ih_l0"] = tensors["rnn.bias_hh_l0"] = np.zeros(units)
    about = {
        "method": memory.method,
        "indices": list(word.indices),
        "alphabet": [s for s in word.alphabet if s is not END],
        "end": word.end,
        "first": written.first,
        "inputs": written.inputs,
        "activation": written.activation,
        "frequencies": list(memory.frequencies),
        "structure": structure,
        "steps": {
            k: None if np.isinf(v) else v for k, v in memory.certificate.steps.items()
        },
    }
    if memory.method == "shift" and memory.exact is not None:
        about["state"] = hex(int(memory.exact.h_0[0]))
        if memory.exact.inputs > len(word.alphabet):
            about["start"] = hex(int(memory.exact.W_x[0, -1]))
    ours = {"positions": "every"} | ({"activation": "tanh"} if names is TORCH else {})
    safetensors.write(path, tensors, {"memory": about, "remanence": ours})


def standard(memory: Memory) -> bool:
    """Whether its file is one that `torch.nn.RNN` reads."""
    return memory.method == "tanh" and memory.dimension <= TORCH_UNITS


def _dense(written: Written) -> Written:
    """Structured maps as the matrices that they stand for."""
    W_h, W_y, W_x = written.W_h, written.W_y, written.W_x
    units = written.dimension
    if isinstance(W_h, Cycle):
        W_h = float(W_h.gain) * np.roll(np.eye(units), W_h.stride, axis=0)
    if isinstance(W_y, Spelled):
        symbols, W_y = np.asarray(W_y.symbols), np.zeros((W_y.outputs, units))
        W_y[symbols, np.arange(units)] = 1.0
    if isinstance(W_x, Beginning):
        state, W_x = W_x.state, np.zeros((units, W_x.inputs))
        W_x[:, -1] = state
    return dataclasses.replace(written, W_h=W_h, W_y=W_y, W_x=W_x)


def _put(value: Any, field: str, name: str, tensors: dict, structure: dict) -> None:
    if value is None:
        return
    if isinstance(value, np.ndarray):
        tensors[name] = value
        return
    kind = type(value).__name__
    structure[field] = {"kind": kind}
    if isinstance(value, Cycle):
        structure[field] |= {
            "size": value.size,
            "stride": value.stride,
            "gain": value.gain,
        }
    elif isinstance(value, Companion):
        structure[field] |= {"size": value.size}
    elif isinstance(value, Turns):
        tensors[f"{field}.cos"], tensors[f"{field}.sin"] = value.cos, value.sin
    elif isinstance(value, Spelled | Balanced):
        spelled = value if isinstance(value, Spelled) else value.spelled
        tensors[f"{field}.symbols"] = np.asarray(spelled.symbols)
        structure[field] |= {"outputs": spelled.outputs}
        if isinstance(value, Balanced):
            tensors[f"{field}.counts"] = np.asarray(value.counts)
    elif isinstance(value, Beginning):
        tensors[f"{field}.state"] = value.state
        structure[field] |= {"inputs": value.inputs}
