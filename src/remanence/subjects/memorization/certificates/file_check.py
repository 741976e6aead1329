r"""A saved memory proved again, from its file alone.

What the file claims is not believed: the certificate is computed anew from the
weights, and must bear out every step that is claimed.
"""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ....formats import safetensors
from ..constructions.single_reading import reading_certificate
from ..saved import PLAIN, TORCH
from ..structured import Balanced, Beginning, Companion, Cycle, Spelled, Turns
from ..words import END, Word
from ..written import Written
from .attraction import attraction_certificate
from .certificate import Certificate
from .integer_exactness import exact_certificate, shift_steps
from .rotation_drift import drift_certificate


LONGEST = 1_000_000


@dataclasses.dataclass(frozen=True)
class Checked:
    """What a file was found to hold."""

    method: str
    word: str
    dimension: int
    certificate: Certificate
    claimed: dict[str, float]


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
        return exact_certificate(written, labels)
    if method == "tanh":
        return attraction_certificate(written, labels)
    if method in ("rotation", "harmonic"):
        frequencies = tuple(int(j) for j in about["frequencies"])
        return drift_certificate(written, labels, word.period, frequencies)
    if method == "once":
        return reading_certificate(written, labels)
    if method != "shift":
        raise ValueError(f"no construction is called {method!r}")
    exact, unit, base = _in_integers(written, word, about)
    found = exact_certificate(exact, labels, unit=unit)
    states = exact.orbit(word.period)[:, 0]
    digits = {k: i for i, k in enumerate(word.used)}
    rooms = []
    for state, label in zip(states, labels, strict=True):
        digit = digits[label]
        below = base * int(state) - digit * unit if digit else unit
        above = (digit + 1) * unit - base * int(state) if digit < base - 1 else unit
        rooms.append(min(below, above) / (base * unit))
    return dataclasses.replace(found, steps=shift_steps(rooms, base))


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
