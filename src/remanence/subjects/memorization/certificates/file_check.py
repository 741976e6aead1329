r"""A saved memory proved again, from its file alone.

What the file claims is not believed. Every number of the network is a tensor, every
tensor is read or the file is refused, the certificate is computed anew in exact or
interval arithmetic, and the tensors are run.
"""

import dataclasses
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..constructions.shift_map import base
from ..memory_file import PLAIN, pop_matrix, TORCH, TORCH_BIASES
from ..words import END, Word
from ..written import column, Written
from .attraction import attraction_certificate
from .certificate import Certificate
from .exactness import exact_certificate, shift_certificate
from .reading_margin import reading_certificate
from .rotation_drift import drift_certificate


LONGEST = 1_000_000
"""Symbols of a word, and of a run of the tensors."""
WORK = 1 << 32
"""Entries times steps beyond which a file is not checked; a step counts as 10,000 more."""
RANGE = 1e30
"""Entries beyond this size leave float32 behind."""
DAMAGE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""What numbers and shapes from outside lead to, here or in the libraries."""


@dataclasses.dataclass(frozen=True)
class Checked:
    """What a file was found to hold."""

    method: str
    word: str
    dimension: int
    certificate: Certificate
    claimed: dict[str, float]


def check(path: str | os.PathLike) -> Checked:
    """Prove again, from a file alone, that its network says its word.

    Refused with a sentence if it does not, or if the file claims more steps than
    its weights bear out.
    """
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
    written, unit = _network(method, word, about["first"], tensors)
    if method == "shift":
        found = shift_certificate(written, word.indices, unit)
    else:
        certificate = CERTIFICATES.get(method)
        if certificate is None:
            raise ValueError(f"no construction is called {method!r}")
        if written.W_x is not None and (written.W_x[:, : len(word.alphabet)] != 0).sum():
            raise ValueError("W_x acts on the symbols that the network says itself")
        found = certificate(written, word.indices)
    if not found.lead > 0:
        raise ValueError("the right symbol does not lead at every step")
    claimed = {k: float("inf") if v is None else float(v) for k, v in about["steps"].items()}
    for name, steps in claimed.items():
        borne = found.steps.get(name, 0.0)
        if not borne >= steps:
            raise ValueError(
                f"the file claims {steps:,.0f} steps in {name}, its weights bear out {borne:,.0f}"
            )
    _run(written, word, found)
    return Checked(method, str(word.join(word.indices)), written.dimension, found, claimed)


CERTIFICATES = {
    "permutation": exact_certificate,
    "rational": exact_certificate,
    "tanh": attraction_certificate,
    "rotation": drift_certificate,
    "harmonic": drift_certificate,
    "once": reading_certificate,
}


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
    return Word(tuple(indices), alphabet, len(indices), True, end is True)


def _network(
    method: str, word: Word, first: Any, tensors: dict[str, np.ndarray]
) -> tuple[Written, int]:
    """The network of the tensors, in integers (of size 1/unit) where it is exact."""
    torch = TORCH["W_h"] in tensors
    parts = {f: pop_matrix(f, n, tensors) for f, n in (TORCH if torch else PLAIN).items()}
    for name in TORCH_BIASES if torch else ():
        if tensors.pop(name).any():
            raise ValueError(f"{name} is not zero, as it is in a memory")
    missing = [f for f, part in parts.items() if part is None and f != "W_x"]
    if missing:
        raise KeyError(missing[0])
    units, outputs = len(parts["h_0"]), len(word.alphabet)
    shapes = {"W_h": (units, units), "W_y": (outputs, units), "b_y": (outputs,), "h_0": (units,)}
    if parts["W_x"] is not None:
        shapes["W_x"] = (units, outputs + (parts["W_x"].shape[1] > outputs))
    for field, shape in shapes.items():
        part = parts[field]
        if part.shape != shape or part.dtype.kind not in "iuf":
            raise ValueError(f"{field} must be real numbers, {list(shape)}, got {list(part.shape)}")
        if method != "shift":
            parts[field] = _numbers(part, whole=method in ("permutation", "rational"))
    entries = sum(
        part.nnz if issparse(part) else part.size for part in parts.values() if part is not None
    )
    pairs = 0 if method in ("permutation", "rational", "tanh", "shift") else outputs**2 * units
    if (entries + 10_000) * word.period > WORK or pairs > 1 << 27:
        raise ValueError("the network and its word are too large to be checked")
    written = Written(**parts, first=first, activation="tanh" if method == "tanh" else "linear")
    if type(first) is not int or not 0 <= first < written.inputs:
        raise ValueError(f"the first input must be a whole number below {written.inputs}")
    unit = 1
    if method == "shift":
        written, unit = _shift_map(written, word, tensors)
    if tensors:
        raise ValueError(f"the file holds {min(tensors)}, which is no part of a memory")
    return written, unit


def _numbers(array: Any, *, whole: bool) -> Any:
    """The same numbers as integers or floats, refused where they would be rounded."""
    entries = array.data if issparse(array) else array
    largest = 2.0**62 if whole else RANGE if entries.dtype.kind == "f" else 2.0**53
    kind = np.int64 if whole else np.float64
    if (
        not (np.abs(entries.astype(float)) <= largest).all()
        or (entries.astype(kind) != entries).any()
    ):
        raise ValueError(
            f"the weights are not {'whole ' if whole else ''}numbers up to {largest:.1e}"
        )
    return array.astype(kind)


def _shift_map(written: Written, word: Word, tensors: dict[str, np.ndarray]) -> tuple[Written, int]:
    """The shift map in units of 1/(n^p - 1). The state's numerator is kept as bytes, and
    the float beside it must be the same number, rounded."""
    outputs, whole = len(word.alphabet), lambda A: _numbers(A, whole=True).astype(object)
    W_h = whole(written.W_h)
    if W_h.shape != (1, 1) or W_h[0, 0] != base(word) or written.W_x is None:
        raise ValueError("the shift map is one unit that grows by the number of symbols")
    unit = int(W_h[0, 0]) ** word.period - 1
    numerator = lambda name: int.from_bytes(_bytes(tensors.pop(name)), "big")
    pairs = [(numerator("h_0.numerator"), written.h_0[0])]
    W_x = whole(written.W_x[:, :outputs]) * unit
    if written.inputs > outputs:
        pairs.append((numerator("W_x.start.numerator"), column(written.W_x, -1)[0]))
        W_x = np.append(W_x, np.array([[pairs[1][0]]], object), axis=1)
    if any(float(Fraction(x, unit)) != float(rounded) for x, rounded in pairs):
        raise ValueError("the state in floating point is not the exact one, rounded")
    h_0, b_y = np.array([pairs[0][0]], object), whole(written.b_y) * unit
    return dataclasses.replace(
        written, W_h=W_h, W_y=whole(written.W_y), b_y=b_y, h_0=h_0, W_x=W_x
    ), unit


def _bytes(tensor: np.ndarray) -> bytes:
    if tensor.dtype != np.uint8:
        raise ValueError("a numerator must be bytes")
    return tensor.tobytes()


def _run(written: Written, word: Word, found: Certificate) -> None:
    """Say the word twice by the tensors themselves, whatever the proof says."""
    period, runs = word.period, [(None, 2 * word.period)]
    if written.h_0.dtype.kind == "f":
        if not found.steps["float64"] >= period:
            raise ValueError("the weights do not say the word once in double precision")
        runs = [(np.dtype(n), int(min(2 * period, s))) for n, s in found.steps.items()]
    for dtype, steps in runs:
        said = written.emissions(min(steps, LONGEST), dtype)
        wanted = np.resize(np.asarray(word.indices), len(said))
        if not np.array_equal(said, wanted):
            at = int(np.argmax(said != wanted)) + 1
            raise ValueError(f"the weights say another symbol at step {at}")
