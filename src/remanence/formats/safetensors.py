"""safetensors files: names, tensors and metadata; a file from outside is only data."""

import json
import os
import pathlib
from collections.abc import Mapping

import numpy as np
from safetensors import safe_open, SafetensorError
from safetensors.numpy import save as serialized

from .._atomic_write import write_atomically


Tensors = dict[str, np.ndarray]
KINDS = (
    *("F64", "F32", "F16", "BF16", "C64", "BOOL"),
    *("I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8"),
)
LARGEST = 8 * 2**30


def check_file(path: pathlib.Path) -> pathlib.Path:
    """The path, refused unless it is a file of a size that is read."""
    if path.is_dir():
        raise ValueError(f"{path.name} is a folder; a file in it would do")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if not path.is_file():  # a pipe, or a device without end
        raise ValueError(f"{path.name} is not a file; a .safetensors file would do")
    size = path.stat().st_size
    if not size:
        raise ValueError(f"{path.name} is empty")
    if size > LARGEST:
        most = f"at most {LARGEST / 2**30:.0f} are read"
        raise ValueError(f"{path.name} holds {size / 2**30:.0f} GiB; {most}")
    return path


def read(path: str | os.PathLike) -> tuple[Tensors, dict[str, str]]:
    """The tensors of a file (half precisions as float32) and its metadata.

    A file that is cut short or malformed is refused with a sentence.
    """
    path = check_file(pathlib.Path(path))
    try:
        with safe_open(path, framework="np") as file:
            metadata = dict(file.metadata() or {})
            kinds = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
            for name, kind in kinds.items():  # others mean nothing without their scales
                if kind not in KINDS:
                    known = ", ".join(KINDS)
                    raise ValueError(f"{name} holds numbers of kind {kind}; {known} are read")
            tensors = {name: plain(file.get_tensor(name)) for name in kinds}
    except (SafetensorError, OSError, ValueError, TypeError, MemoryError) as error:
        raise ValueError(f"{path.name} is not a whole safetensors file: {error}") from None
    # Tied weights: `save_model` writes them once and names the others in the metadata.
    tied = {n: kept for n, kept in metadata.items() if n not in tensors and kept in tensors}
    return tensors | {name: tensors[kept] for name, kept in tied.items()}, metadata


def largest_swollen(size: int) -> int:
    """Bytes to which a compressed file may grow; weights hardly shrink at all."""
    return max(64 * 2**20, 20 * size)


def plain(tensor: np.ndarray) -> np.ndarray:
    """Half precisions widened to float32, which holds them exactly."""
    if tensor.dtype == np.float64 or tensor.dtype.kind in "iubc":
        return tensor
    return tensor.astype(np.float32)


def write(path: str | os.PathLike, tensors: Mapping[str, np.ndarray], metadata: Mapping) -> None:
    """Write a file whole or not at all."""
    text = lambda value: value if isinstance(value, str) else json.dumps(value)
    words = {key: text(value) for key, value in metadata.items()}
    whole = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    write_atomically(pathlib.Path(path), serialized(whole, metadata=words))


def finite(tensors: Tensors) -> Tensors:
    """The same tensors, refused if any holds NaN or infinity."""
    would = "a network with finite weights would do"
    for name, tensor in tensors.items():
        if tensor.dtype.kind in "fc" and (count := int((~np.isfinite(tensor)).sum())):
            raise ValueError(f"{name} holds {count} values that are NaN or infinite; {would}")
    return tensors


def real(name: str, tensor: np.ndarray) -> np.ndarray:
    """The same tensor, refused unless it holds real numbers."""
    if tensor.dtype.kind != "f":
        raise ValueError(f"{name} holds {tensor.dtype} numbers; real floating ones would do")
    return tensor
