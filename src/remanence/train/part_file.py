"""One part of a store as a file: named arrays and JSON, under a digest of every byte."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors.numpy import load as tensors_from, save as tensors_to


BLANK = "0" * 64
"""What stands in the place of the digest while it is computed."""


def digest_of(plain: Any) -> str:
    """A sha256 of plain values."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def part_bytes(
    arrays: Mapping[str, np.ndarray], words: Mapping[str, str], record: Any = None
) -> bytes:
    """Arrays, words and a JSON record as one safetensors file that carries its digest."""
    pairs = sorted(name for name in arrays if np.iscomplexobj(arrays[name]))
    meta = {**words, "record": json.dumps(record), "complex": json.dumps(pairs), "digest": BLANK}
    plain = {name: _real(np.asarray(array)) for name, array in arrays.items()}
    content = tensors_to(plain, metadata=meta)
    found = hashlib.sha256(content).hexdigest()
    return content.replace(f'"digest":"{BLANK}"'.encode(), f'"digest":"{found}"'.encode(), 1)


def part_words(content: bytes) -> dict[str, str]:
    """The words beside the arrays of a part, if its digest fits."""
    size = int.from_bytes(content[:8], "little")
    words = dict(json.loads(content[8 : 8 + size])["__metadata__"])
    found = words.pop("digest")
    blank = content.replace(f'"digest":"{found}"'.encode(), f'"digest":"{BLANK}"'.encode(), 1)
    if hashlib.sha256(blank).hexdigest() != found:
        raise ValueError("its digest does not fit")
    return words


def read_part(content: bytes, words: Mapping[str, str]) -> tuple[dict[str, np.ndarray], Any]:
    """The arrays and the record of a part, if its digest and its words fit."""
    there = part_words(content)
    for word, value in words.items():
        if there[word] != value:
            raise ValueError(f"its {word} is another")
    pairs = json.loads(there["complex"])
    arrays = {
        name: array[..., 0] + 1j * array[..., 1] if name in pairs else array
        for name, array in tensors_from(content).items()
    }
    return arrays, json.loads(there["record"])


def _real(array: np.ndarray) -> np.ndarray:
    if np.iscomplexobj(array):
        array = np.stack([np.real(array), np.imag(array)], axis=-1)
    # A 0-d array stays 0-d; np.ascontiguousarray would make it 1-d.
    return np.array(array, order="C")
