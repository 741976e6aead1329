r"""A memory in a file, with all that is needed to prove it again (`certificates/file_check.py`).

Every number of the network is a tensor; the metadata says the word and what is claimed. A tanh memory of up
to 2,048 units has the names of `torch.nn.RNN`, so that torch and `rm.load` read
it; a larger one keeps its permutation as a rule, since the matrix would fill the
disk.
"""

import dataclasses
import os
from fractions import Fraction
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
TORCH_BIASES = ("rnn.bias_ih_l0", "rnn.bias_hh_l0")
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
    for field, name in names.items():
        _put(getattr(written, field), field, name, tensors)
    if names is TORCH:
        units = memory.dimension
        tensors.setdefault(TORCH["W_x"], np.zeros((units, len(memory.inputs))))
        tensors |= {name: np.zeros(units) for name in TORCH_BIASES}
    if memory.method == "shift" and memory.exact is not None:
        # A float cannot hold the state: its numerator over n^p - 1 is kept whole.
        tensors["h_0.numerator"] = _bytes(int(memory.exact.h_0[0]))
        if memory.exact.inputs > len(word.alphabet):
            start = int(memory.exact.W_x[0, -1])
            tensors["W_x.start.numerator"] = _bytes(start)
            # The float beside it is the same number, rounded once.
            tensors["W_x"] = tensors["W_x"].copy()
            unit = max(len(word.used), 2) ** word.period - 1
            tensors["W_x"][0, -1] = float(Fraction(start, unit))
    about = {
        "method": memory.method,
        "indices": list(word.indices),
        "alphabet": [s for s in word.alphabet if s is not END],
        "end": word.end,
        "first": written.first,
        "inputs": written.inputs,
        "frequencies": list(memory.frequencies),
        "steps": {k: None if np.isinf(v) else v for k, v in memory.certificate.steps.items()},
    }
    ours = {"positions": "every"} | ({"activation": "tanh"} if names is TORCH else {})
    safetensors.write(path, tensors, {"memory": about, "remanence": ours})


def _bytes(number: int) -> np.ndarray:
    size = max(1, (number.bit_length() + 7) // 8)
    return np.frombuffer(number.to_bytes(size, "big"), np.uint8).copy()


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


def _put(value: Any, field: str, name: str, tensors: dict) -> None:
    """A matrix, or the numbers of a structured map under names that say its kind."""
    whole = lambda *numbers: np.array(numbers, np.int64)
    if isinstance(value, np.ndarray):
        tensors[name] = value
    elif isinstance(value, Cycle):
        tensors[f"{field}.cycle"] = whole(value.size, value.stride)
        tensors[f"{field}.gain"] = np.array([float(value.gain)])
    elif isinstance(value, Companion):
        tensors[f"{field}.companion"] = whole(value.size)
    elif isinstance(value, Turns):
        tensors[f"{field}.cos"], tensors[f"{field}.sin"] = value.cos, value.sin
    elif isinstance(value, Spelled | Balanced):
        spelled = value if isinstance(value, Spelled) else value.spelled
        tensors[f"{field}.symbols"] = np.asarray(spelled.symbols)
        tensors[f"{field}.outputs"] = whole(spelled.outputs)
        if isinstance(value, Balanced):
            tensors[f"{field}.counts"] = np.asarray(value.counts)
    elif isinstance(value, Beginning):
        tensors[f"{field}.state"] = value.state
        tensors[f"{field}.inputs"] = whole(value.inputs)
