r"""A saved memory proved again, from its file alone.

What the file claims is not believed. Every number of the network is a tensor, every tensor is read
or the file is refused, the certificate is computed anew, and the tensors are run.
"""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..constructions.shift_map import shift_map
from ..memory import TORCH, TORCH_BIASES
from ..words import END, Word
from ..written import with_start, Written
from . import CERTIFICATES
from .certificate import Certificate, same, shift_certificate


LONGEST = 1_000_000  # symbols of a word, and of a run of the tensors
WORK = 1 << 32
"""Entries times steps beyond which a file is not checked; a step counts as 10,000 more."""
RANGE = 1e30  # entries beyond this size leave float32 behind
DAMAGE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""What numbers and shapes from outside lead to, here or in the libraries."""


@dataclasses.dataclass(frozen=True)
class Checked:
    """What a file was found to hold."""

    method: str
    word: str
    dimension: int
    certificate: Certificate


def check(path: str | os.PathLike) -> Checked:
    """Prove again, from a file alone, that its network says its word; refused with a sentence
    if it does not, or if the file claims more steps than its weights bear out."""
    from ....formats import safetensors

    name = Path(path).name
    tensors, metadata = safetensors.read(path)
    safetensors.finite(tensors)
    if "memory" not in metadata:
        raise ValueError(f"{name} holds no memory")
    try:
        with np.errstate(all="ignore"):
            return _prove(json.loads(metadata["memory"]), dict(tensors))
    except DAMAGE as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{name} is not verified: {reason[:200]}") from None


def _prove(about: dict[str, Any], tensors: dict[str, np.ndarray]) -> Checked:
    method, word = str(about["method"]), _word(about)
    if method not in (*CERTIFICATES, "shift"):
        raise ValueError(f"no construction is called {method!r}")
    written = _network(method, word, about["first"], tensors)
    if method == "shift":
        found = _shift_proof(written, word)
    elif written.W_x is not None and (written.W_x[:, : len(word.alphabet)] != 0).any():
        raise ValueError("W_x acts on the symbols that the network says itself")
    else:
        found = CERTIFICATES[method](written, word.indices)
    if not found.lead > 0:
        raise ValueError("the right symbol does not lead at every step")
    for name, claimed in about["steps"].items():
        steps = float("inf") if claimed is None else float(claimed)
        borne = found.steps.get(name, 0.0)
        if not borne >= steps:
            raise ValueError(
                f"the file claims {steps:,.0f} steps in {name}, its weights bear out {borne:,.0f}"
            )
    # The digits of the shift map may run out within the word; it is exact in rationals.
    floats = written.h_0.dtype.kind == "f" and method != "shift"
    if floats and not found.steps["float64"] >= word.period:
        raise ValueError("the weights do not say the word once in double precision")
    _run(written, word, found)
    return Checked(method, str(word.join(word.indices)), written.dimension, found)


def _shift_proof(written: Written, word: Word) -> Certificate:
    """The exact shift map of the word, which the tensors must be, rounded."""
    rounded, exact, unit = shift_map(word)
    if written.inputs > len(word.alphabet):
        rounded, exact = with_start(rounded), with_start(exact)
    for field in TORCH:
        if not same(getattr(written, field), getattr(rounded, field)):
            raise ValueError(f"{field} is not that of the shift map of its word")
    if written.first != rounded.first:
        raise ValueError(f"the shift map reads symbol {rounded.first} first")
    return shift_certificate(exact, word.indices, unit)


def _word(about: dict[str, Any]) -> Word:
    letters, end, indices = about["alphabet"], about["end"], about["indices"]
    if not all(isinstance(s, str) for s in letters) or len(set(letters)) != len(letters):
        raise ValueError("the file's alphabet must be different strings")
    alphabet = (*letters, END) if end is True else tuple(letters)
    if not 0 < len(indices) <= LONGEST:
        raise ValueError(f"the file's word must have 1 to {LONGEST:,} symbols")
    if not all(type(k) is int and 0 <= k < len(alphabet) for k in indices):
        raise ValueError("the file's word is outside its alphabet")
    if end is True and indices.index(len(letters)) != len(indices) - 1:
        raise ValueError("<END> must be the word's last symbol and only that")
    return Word(tuple(indices), alphabet, True, end is True)


def _network(method: str, word: Word, first: Any, tensors: dict[str, np.ndarray]) -> Written:
    """The network of the tensors, in integers where it is exact."""
    torch = TORCH["W_h"] in tensors
    names = {f: name if torch else f for f, name in TORCH.items()}
    if method != "shift" and names["W_x"] not in tensors:
        del names["W_x"]
    parts: dict[str, Any] = {f: tensors.pop(name) for f, name in names.items()}
    for name in TORCH_BIASES if torch else ():
        if tensors.pop(name).any():
            raise ValueError(f"{name} is not zero, as it is in a memory")
    if tensors:
        raise ValueError(f"the file holds {min(tensors)}, which is no part of a memory")
    units, outputs = len(parts["h_0"]), len(word.alphabet)
    shapes = {"W_h": (units, units), "W_y": (outputs, units), "b_y": (outputs,), "h_0": (units,)}
    if "W_x" in parts:
        shapes["W_x"] = (units, outputs + (parts["W_x"].shape[1] > outputs))
    for field, shape in shapes.items():
        part = parts[field]
        if part.shape != shape or part.dtype.kind not in "iuf":
            raise ValueError(f"{field} must be real numbers, {list(shape)}, got {list(part.shape)}")
        parts[field] = _numbers(part, whole=method in ("permutation", "rational"))
    entries = sum(part.size for part in parts.values())
    pairs = outputs**2 * units if method in ("rotation", "harmonic", "once") else 0
    if (entries + 10_000) * word.period > WORK or pairs > 1 << 27:
        raise ValueError("the network and its word are too large to be checked")
    written = Written(**parts, first=first, activation="tanh" if method == "tanh" else "linear")
    if type(first) is not int or not 0 <= first < written.inputs:
        raise ValueError(f"the first input must be a whole number below {written.inputs}")
    return written


def _numbers(array: np.ndarray, *, whole: bool) -> np.ndarray:
    """The same numbers as integers or floats, refused where they would be rounded."""
    largest = 2.0**62 if whole else RANGE if array.dtype.kind == "f" else 2.0**53
    kind, word = (np.int64, "whole numbers") if whole else (np.float64, "numbers")
    if not (np.abs(array.astype(float)) <= largest).all() or (array.astype(kind) != array).any():
        raise ValueError(f"the weights are not {word} up to {largest:.1e}")
    return array.astype(kind)


def _run(written: Written, word: Word, found: Certificate) -> None:
    """Say the word twice by the tensors themselves, whatever the proof says."""
    twice = 2 * word.period
    runs = found.steps if written.h_0.dtype.kind == "f" else {None: twice}
    for dtype, steps in runs.items():
        said = written.emissions(int(min(twice, steps, LONGEST)), dtype)
        wrong = said != np.resize(np.asarray(word.indices), len(said))
        if wrong.any():
            raise ValueError(f"the weights say another symbol at step {int(wrong.argmax()) + 1}")
