"""The frontier of networks that repeat one string, with weights small enough to play with."""

import math
import pathlib
import tempfile
from typing import Any

import numpy as np


METHODS = ("rotation", "harmonic", "rational", "permutation", "tanh", "shift")
LONGEST = 60  # symbols: longer strings are for the command line
SHOWN = 64  # units above which the weights are not sent to the page


def number(value: Any) -> float | str | None:
    """A finite number, or the word for it."""
    found = float(value)
    return found if math.isfinite(found) else str(found)


def refuse_bad_length(text: str) -> str:
    """The string itself, if it is neither empty nor too long for the page."""
    if not 1 <= len(text) <= LONGEST:
        raise ValueError(f"the string must have 1 to {LONGEST} symbols here, got {len(text)}")
    return text


def frontier(text: str) -> dict[str, Any]:
    """Every construction for `text`, with what it costs, or why it cannot be."""
    from ..subjects.memorization.memorize import memorize

    rows = []
    for method in METHODS:
        try:
            memory = memorize(refuse_bad_length(text), method=method, time_limit=5.0)
        except ValueError as refusal:
            rows.append({"method": method, "refused": str(refusal)})
            continue
        rows.append(_row(memory))
    return {"text": text, "networks": rows}


def _row(memory: Any) -> dict[str, Any]:
    word, written = memory.word, memory.written
    row = {
        "method": memory.method,
        "dimension": memory.dimension,
        "exponent": number(memory.exponent),
        "margin": number(memory.margin),
        "steps": number(memory.certificate.steps.get("float32", 0.0)),
        "proof": memory.certificate.sentence,
        "frequencies": [int(k) for k in memory.frequencies],
        "alphabet": [str(symbol) for symbol in word.alphabet],
        "period": int(word.period),
        "indices": [int(i) for i in word.indices],
    }
    if memory.dimension <= SHOWN and isinstance(written.W_h, np.ndarray):
        plain = lambda a: None if a is None else np.asarray(a, dtype=float).tolist()
        names = ("W_h", "W_x", "W_y", "b_y", "h_0")
        row["weights"] = {name: plain(getattr(written, name)) for name in names}
        row["weights"] |= {"first": int(written.first), "activation": written.activation}
    return row


def weights(text: str, method: str) -> bytes:
    """The network as a safetensors file."""
    from ..subjects.memorization.memorize import memorize

    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    memory = memorize(refuse_bad_length(text), method=method)
    with tempfile.TemporaryDirectory(prefix="remanence-") as folder:
        path = pathlib.Path(folder) / "memory.safetensors"
        memory.save(path)
        return path.read_bytes()
