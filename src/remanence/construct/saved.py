r"""A memory in a file, and its proof done again from the file alone.

Tensors in safetensors, everything else as JSON in its metadata. A tanh memory has
the names of `torch.nn.RNN`, so that torch and `rm.load` read it. What the file
claims is not believed: the certificate is computed anew from the weights.
"""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..formats import safetensors
from ..tasks.words import END, Word
from . import certificate as proofs
from .certificate import Certificate
from .memorize import Memory
from .structured import Balanced, Beginning, Companion, Cycle, Spelled, Turns
from .written import Written


LONGEST = 1_000_000
TORCH = {
    "W_h": "rnn.weight_hh_l0",
    "W_x": "rnn.weight_ih_l0",
    "W_y": "readout.weight",
    "b_y": "readout.bias",
    "h_0": "h_0",
}
PLAIN = {name: name for name in TORCH}


@dataclasses.dataclass(frozen=True)
class Checked:
    """What a file was found to hold."""

    method: str
    word: str
    dimension: int
    certificate: Certificate
    claimed: dict[str, float]


def save_memory(memory: Memory, path: str | os.PathLike) -> None:
    """Write a memory; symbols must be text (or `<END>`), since JSON holds the alphabet."""
    word = memory.word
    if not all(isinstance(s, str) or s is END for s in word.alphabet):
        raise ValueError("only memories of text can be saved: symbols must be strings")
    written = memory.written
    if memory.exact is not None and memory.method != "shift":
        written = memory.exact
    names = TORCH if _standard(memory) else PLAIN
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


def _standard(memory: Memory) -> bool:
    return memory.method == "tanh" and isinstance(memory.written.W_h, np.ndarray)


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


def _get(field: str, name: str, tensors: dict, structure: dict) -> Any:
    said = structure.get(field)
    if said is None:
        return tensors.get(name)
    kind = said["kind"]
    if kind == "Cycle":
        gain = said["gain"]
        return Cycle(int(said["size"]), int(said["stride"]), gain)
    if kind == "Companion":
        return Companion(int(said["size"]))
    if kind == "Turns":
        return Turns(tensors["W_h.cos"], tensors["W_h.sin"])
    if kind == "Beginning":
        return Beginning(tensors[f"{field}.state"], int(said["inputs"]))
    spelled = Spelled(tensors[f"{field}.symbols"], int(said["outputs"]))
    return (
        spelled if kind == "Spelled" else Balanced(spelled, tensors[f"{field}.counts"])
    )


def check(path: str | os.PathLike) -> Checked:
    """Prove again, from a file alone, that its network says its word.

    Refused with a sentence if it does not, or if the file claims more steps than
    its weights bear out.
    """
    tensors, metadata = safetensors.read(path)
    safetensors.finite(tensors)
    if "memory" not in metadata:
        raise ValueError(f"{Path(path).name} holds no memory")
    try:
        about = json.loads(metadata["memory"])
        word, written = _rebuilt(about, tensors)
        claimed = {
            k: float("inf") if v is None else float(v)
            for k, v in about["steps"].items()
        }
        method = str(about["method"])
    except (
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        json.JSONDecodeError,
    ) as error:
        raise ValueError(
            f"{Path(path).name} is not a whole memory: {error!r}"
        ) from None
    try:
        found = _certified(method, word, written, about)
    except (IndexError, KeyError, TypeError) as error:
        raise ValueError(f"the weights do not fit together: {error}") from None
    for name, steps in claimed.items():
        if not found.steps.get(name, 0.0) >= steps:
            raise ValueError(
                f"the file claims {steps:,.0f} steps in {name}, its weights bear out "
                f"{found.steps.get(name, 0.0):,.0f}"
            )
    if not found.lead > 0:
        raise ValueError("the right symbol does not lead at every step")
    text = word.joined(word.indices)
    return Checked(method, str(text), written.dimension, found, claimed)


def _rebuilt(about: dict, tensors: dict) -> tuple[Word, Written]:
    letters = tuple(str(s) for s in about["alphabet"])
    end = bool(about["end"])
    alphabet = (*letters, END) if end else letters
    indices = tuple(int(k) for k in about["indices"])
    if not 0 < len(indices) <= LONGEST or not all(
        0 <= k < len(alphabet) for k in indices
    ):
        raise ValueError("the file's word is empty, too long or outside its alphabet")
    word = Word(indices, alphabet, len(indices), True, end)
    names = TORCH if TORCH["W_h"] in tensors else PLAIN
    parts = {
        field: _get(field, name, tensors, about["structure"])
        for field, name in names.items()
    }
    written = Written(
        **parts,
        first=int(about["first"]),
        inputs=int(about["inputs"]),
        activation="tanh" if about["activation"] == "tanh" else "linear",
    )
    return word, written


def _certified(method: str, word: Word, written: Written, about: dict) -> Certificate:
    labels = word.indices
    if method in ("permutation", "rational"):
        return proofs.exact(written, labels)
    if method == "tanh":
        return proofs.attraction(written, labels)
    if method in ("rotation", "harmonic"):
        frequencies = tuple(int(j) for j in about["frequencies"])
        return proofs.drift(written, labels, word.period, frequencies)
    if method != "shift":
        raise ValueError(f"no construction is called {method!r}")
    exact, unit, base = _in_integers(written, word, about)
    found = proofs.exact(exact, labels, unit=unit)
    states = exact.orbit(word.period)[:, 0]
    digits = {k: i for i, k in enumerate(word.used)}
    rooms = []
    for state, label in zip(states, labels, strict=True):
        digit = digits[label]
        below = base * int(state) - digit * unit if digit else unit
        above = (digit + 1) * unit - base * int(state) if digit < base - 1 else unit
        rooms.append(min(below, above) / (base * unit))
    return dataclasses.replace(found, steps=proofs.digits(rooms, base))


def _in_integers(written: Written, word: Word, about: dict) -> tuple[Written, int, int]:
    """The shift map in units of 1/(n^p - 1), from its floating weights."""
    base = int(written.W_h[0, 0])
    unit = base**word.period - 1
    whole = lambda a: np.vectorize(int, otypes=[object])(a)
    outputs = len(word.alphabet)
    W_x = whole(written.W_x[:, :outputs]) * unit
    if about["inputs"] > outputs:
        W_x = np.concatenate(
            [W_x, np.array([[int(about["start"], 16)]], object)], axis=1
        )
    exact = Written(
        whole(written.W_h),
        whole(written.W_y),
        whole(written.b_y) * unit,
        np.array([int(about["state"], 16)], object),
        W_x=W_x,
        first=written.first,
        inputs=written.inputs,
    )
    return exact, unit, base
