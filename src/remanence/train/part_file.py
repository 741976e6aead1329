"""One part of a store as a file: named arrays and JSON that carry a digest of themselves."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors.numpy import load as tensors_from, save as tensors_to


def part_metadata(content: bytes) -> dict[str, str]:
    """The words beside the arrays of a part."""
    size = int.from_bytes(content[:8], "little")
    return dict(json.loads(content[8 : 8 + size])["__metadata__"])


def digest_of(plain: Any) -> str:
    """A sha256 of plain values."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def part_bytes(arrays: Mapping[str, np.ndarray], words: Mapping[str, str]) -> bytes:
    """Arrays and words as one safetensors file that carries a digest of itself."""
    plain = {name: _plain(np.asarray(array)) for name, array in arrays.items()}
    complex_names = [name for name in arrays if np.iscomplexobj(arrays[name])]
    meta = {**words, "complex": json.dumps(sorted(complex_names))}
    return tensors_to(plain, metadata=meta | {"seal": _digest_of_arrays(plain, meta)})


def read_part(content: bytes, words: Mapping[str, str]) -> tuple[dict[str, np.ndarray], Any]:
    """The arrays and the record of a part, if its digest and its words fit."""
    plain = tensors_from(content)
    meta = part_metadata(content)
    if meta.pop("seal") != _digest_of_arrays(plain, meta):
        raise ValueError("its seal does not fit")
    for word, value in words.items():
        if meta[word] != value:
            raise ValueError(f"its {word} is another")
    paired = json.loads(meta["complex"])
    arrays = {
        name: array[..., 0] + 1j * array[..., 1] if name in paired else array
        for name, array in plain.items()
    }
    return arrays, json.loads(meta.get("record", "null"))


def _plain(array: np.ndarray) -> np.ndarray:
    if np.iscomplexobj(array):
        array = np.stack([np.real(array), np.imag(array)], axis=-1)
    # A 0-d array stays 0-d; np.ascontiguousarray would make it 1-d.
    return np.array(array, order="C")


def _digest_of_arrays(plain: Mapping[str, np.ndarray], meta: Mapping[str, str]) -> str:
    state = hashlib.sha256(json.dumps(meta, sort_keys=True).encode())
    for name in sorted(plain):
        array = plain[name]
        state.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        state.update(array.tobytes())
    return state.hexdigest()


def sealed(body: Any) -> bytes:
    """JSON bytes that carry a digest of themselves."""
    document = {"seal": digest_of(body), "body": body}
    return json.dumps(document, sort_keys=True, indent=1).encode()


def unsealed(content: bytes) -> dict:
    """The body of a sealed JSON document, if not a character of it has changed."""
    outer = json.loads(content)
    body = outer["body"]
    if digest_of(body) != outer["seal"]:
        raise ValueError("the seal does not fit")
    if not isinstance(body, dict):
        raise ValueError("it is no record")
    return body
