r"""A memory in a file, with all that is needed to prove it again (`certificates/file_check.py`).

Every number of the network is a tensor; the metadata says the word and what is claimed.
A tanh memory of up to 2,048 units has the names of `torch.nn.RNN`, so that torch and
`rm.load` read it; a matrix too large to be written out is kept by its entries.
"""

import os
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from .memory import Memory
from .words import END


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
ENTRIES = ("entries", "rows", "columns", "shape")
"""Of a matrix that is too large to be written out."""
MOST = 10_000_000
"""Rows or columns of such a matrix."""


def save_memory(memory: Memory, path: str | os.PathLike) -> None:
    """Write a memory; symbols must be text (or `<END>`), since JSON holds the alphabet."""
    from ...formats import safetensors

    word = memory.word
    if not all(isinstance(s, str) or s is END for s in word.alphabet):
        raise ValueError("only memories of text can be saved: symbols must be strings")
    written = memory.written
    if memory.exact is not None and memory.method != "shift":
        written = memory.exact
    names = TORCH if standard(memory) else PLAIN
    tensors: dict[str, np.ndarray] = {}
    for field, name in names.items():
        value = getattr(written, field)
        if issparse(value) and names is PLAIN:
            by_entry = value.tocoo()
            parts = (by_entry.data, by_entry.row, by_entry.col, value.shape)
            tensors |= {
                f"{field}.{part}": np.array(x) for part, x in zip(ENTRIES, parts, strict=True)
            }
        elif value is not None:
            tensors[name] = value.toarray() if issparse(value) else value
    if names is TORCH:
        units = memory.dimension
        tensors.setdefault(TORCH["W_x"], np.zeros((units, written.inputs)))
        tensors |= {name: np.zeros(units) for name in TORCH_BIASES}
    about = {
        "method": memory.method,
        "indices": list(word.indices),
        "alphabet": [s for s in word.alphabet if s is not END],
        "end": word.end,
        "first": written.first,
        "steps": {k: None if np.isinf(v) else v for k, v in memory.certificate.steps.items()},
    }
    ours = {"positions": "every"} | ({"activation": "tanh"} if names is TORCH else {})
    safetensors.write(path, tensors, {"memory": about, "remanence": ours})


def standard(memory: Memory) -> bool:
    """Whether its file is one that `torch.nn.RNN` reads."""
    return memory.method == "tanh" and memory.dimension <= TORCH_UNITS


def pop_matrix(field: str, name: str, tensors: dict[str, np.ndarray]) -> Any:
    """A matrix out of a file's tensors, which lose what is used; None if it is not there."""
    if f"{field}.entries" not in tensors:
        return tensors.pop(name, None)
    entries, rows, columns, shape = (tensors.pop(f"{field}.{part}") for part in ENTRIES)
    places = (rows, columns, shape)
    if entries.dtype.kind not in "iuf" or any(x.dtype.kind not in "iu" for x in places):
        raise ValueError(f"{field} must be kept by real numbers and whole places")
    height, width = (int(n) for n in shape)
    for place, size in ((rows, height), (columns, width)):
        inside = ((place >= 0) & (place < size)).all()
        if place.shape != entries.shape or entries.ndim != 1 or not inside or size > MOST:
            raise ValueError(f"{field} has entries outside of its shape")
    return csr_array(
        (entries, (rows.astype(np.int64), columns.astype(np.int64))), shape=(height, width)
    )
