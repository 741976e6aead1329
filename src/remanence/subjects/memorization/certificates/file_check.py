r"""A saved memory proved again, from its file alone.

What the file claims is not believed. Every number of the network is a tensor, every
tensor is read or the file is refused, the certificate is computed anew in exact or
interval arithmetic, and the tensors are run.
"""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ....formats import safetensors
from ..constructions.single_reading import reading_certificate
from ..saved import PLAIN, TORCH, TORCH_BIASES
from ..structured import Balanced, Beginning, Companion, Cycle, Spelled, Turns
from ..words import END, Word
from ..written import Written
from .attraction import attraction_certificate
from .certificate import Certificate
from .integer_exactness import exact_certificate
from .rotation_drift import drift_certificate
from .shift_check import as_integers, shift_certificate, shift_in_integers


LONGEST = 1_000_000


@dataclasses.dataclass(frozen=True)
class Checked:
    """What a file was found to hold."""

    method: str
    word: str
    dimension: int
    certificate: Certificate
    claimed: dict[str, float]


def _take(field: str, name: str, tensors: dict) -> Any:
    """A matrix or structured map; what is used is taken out of `tensors`."""
    if name in tensors:
        return tensors.pop(name)
    part = lambda end: tensors.pop(f"{field}.{end}")
    whole = lambda end: [int(n) for n in part(end).ravel()]
    has = lambda end: f"{field}.{end}" in tensors
    if has("cycle"):
        size, stride = whole("cycle")
        gain = float(part("gain")[0])
        return Cycle(size, stride, 1 if gain == 1.0 else gain)
    if has("companion"):
        return Companion(*whole("companion"))
    if has("cos"):
        return Turns(part("cos"), part("sin"))
    if has("symbols"):
        spelled = Spelled(part("symbols"), *whole("outputs"))
        return Balanced(spelled, part("counts")) if has("counts") else spelled
    if has("state"):
        return Beginning(part("state"), *whole("inputs"))
    return None


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
        word, written = _rebuilt(about, dict(tensors))
        claimed = {k: float("inf") if v is None else float(v) for k, v in about["steps"].items()}
        method = str(about["method"])
    except (
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        OverflowError,
        json.JSONDecodeError,
    ) as error:
        raise ValueError(f"{Path(path).name} is not a whole memory: {error!r}") from None
    try:
        found = _certified(method, word, written, about)
    except (IndexError, KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"the weights do not fit together: {error}") from None
    for name, steps in claimed.items():
        if not found.steps.get(name, 0.0) >= steps:
            raise ValueError(
                f"the file claims {steps:,.0f} steps in {name}, its weights bear out "
                f"{found.steps.get(name, 0.0):,.0f}"
            )
    if not found.lead > 0:
        raise ValueError("the right symbol does not lead at every step")
    _run(written, word, found)
    text = word.joined(word.indices)
    return Checked(method, str(text), written.dimension, found, claimed)


def _rebuilt(about: dict, tensors: dict) -> tuple[Word, Written]:
    letters = tuple(str(s) for s in about["alphabet"])
    end = bool(about["end"])
    alphabet = (*letters, END) if end else letters
    indices = tuple(int(k) for k in about["indices"])
    if not 0 < len(indices) <= LONGEST or not all(0 <= k < len(alphabet) for k in indices):
        raise ValueError("the file's word is empty, too long or outside its alphabet")
    word = Word(indices, alphabet, len(indices), True, end)
    torch = TORCH["W_h"] in tensors
    parts = {f: _take(f, n, tensors) for f, n in (TORCH if torch else PLAIN).items()}
    for name in TORCH_BIASES if torch else ():
        if tensors.pop(name).any():
            raise ValueError(f"{name} is not zero, as it is in a memory")
    method = str(about["method"])
    written = Written(
        **parts,
        first=int(about["first"]),
        inputs=int(about["inputs"]),
        activation="tanh" if method == "tanh" else "linear",
    )
    _check_shapes(written, word)
    if method == "shift":
        written = shift_in_integers(written, word, tensors)
    if tensors:
        raise ValueError(f"the file holds {min(tensors)}, which is no part of a memory")
    return word, written


def _check_shapes(written: Written, word: Word) -> None:
    """Every part fits the others, to the last entry; inputs act at the start alone."""
    units, outputs = written.dimension, len(word.alphabet)
    shapes = {"W_h": (units, units), "W_y": (outputs, units), "b_y": (outputs,)}
    for field, shape in shapes.items():
        if (found := np.shape(_shaped(getattr(written, field)))) != shape:
            raise ValueError(f"{field} is {list(found)}, {list(shape)} would fit")
    if written.h_0.shape != (units,) or not 0 <= written.first < max(written.inputs, outputs):
        raise ValueError("h_0 or the first input does not fit the other weights")
    if written.W_x is not None:
        shape = (units, written.inputs or outputs)
        if (found := np.shape(_shaped(written.W_x))) != shape:
            raise ValueError(f"W_x is {list(found)}, {list(shape)} would fit")


def _shaped(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) else np.broadcast_to(0, value.shape)


def _deaf(written: Written, outputs: int) -> None:
    """Refuse inputs that act on anything but the start: its proofs leave them out."""
    if written.W_x is None or isinstance(written.W_x, Beginning):
        return
    if np.any(written.W_x[:, :outputs]):
        raise ValueError("W_x acts on the symbols that the network says itself")


def _certified(method: str, word: Word, written: Written, about: dict) -> Certificate:
    labels = word.indices
    if method == "shift":
        return shift_certificate(word, written)
    _deaf(written, len(word.alphabet))
    if method in ("permutation", "rational"):
        return exact_certificate(_exact(written), labels)
    if method == "tanh":
        return attraction_certificate(written, labels)
    if method in ("rotation", "harmonic"):
        frequencies = tuple(int(j) for j in about["frequencies"])
        return drift_certificate(written, labels, word.period, frequencies)
    if method == "once":
        return reading_certificate(written, labels)
    raise ValueError(f"no construction is called {method!r}")


def _exact(written: Written) -> Written:
    fields = ("W_h", "W_y", "b_y", "h_0", "W_x")
    return dataclasses.replace(written, **{f: as_integers(getattr(written, f)) for f in fields})


def _run(written: Written, word: Word, found: Certificate) -> None:
    """Say the word twice by the tensors themselves, whatever the proof says."""
    period = word.period
    if written.h_0.dtype == object:  # exact: the floats' digits run out
        runs: list[tuple[Any, int]] = [(None, 2 * period)]
    else:
        kinds = {"float32": np.float32, "float64": np.float64}
        runs = [(kinds[n], int(min(2 * period, s))) for n, s in found.steps.items()]
        if not found.steps["float64"] >= period:
            raise ValueError("the weights do not say the word once in double precision")
    for dtype, steps in runs:
        said = written.emissions(min(steps, LONGEST), dtype)
        wanted = np.resize(np.asarray(word.indices), len(said))
        if not np.array_equal(said, wanted):
            at = int(np.argmax(said != wanted)) + 1
            raise ValueError(f"the weights say another symbol at step {at}")
