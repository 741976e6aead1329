"""safetensors files: names, tensors and metadata; a file from outside is only data."""

import json
import os
import pathlib
from collections.abc import Mapping

import numpy as np
from safetensors import safe_open, SafetensorError
from safetensors.numpy import save as serialized

from .._whole import written_whole


Tensors = dict[str, np.ndarray]
LARGEST = 8 * 2**30
PICKLES = {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"}
RECIPE = (
    "convert it where it was made:\n"
    "    from safetensors.torch import save_model\n"
    '    save_model(model, "model.safetensors")'
)


def read(path: str | os.PathLike) -> tuple[Tensors, dict[str, str]]:
    """The tensors of a file, as float32 or float64 (integers as they are), and its metadata.

    Pickles are refused unopened; a file that is too large, cut short or malformed
    is refused with a sentence.
    """
    path = pathlib.Path(path)
    if path.is_dir():
        raise ValueError(f"{path.name} is a folder; a .safetensors file would do")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if not path.is_file():  # a pipe, or a device without end
        raise ValueError(f"{path.name} is not a file; a .safetensors file would do")
    size = path.stat().st_size
    if size > LARGEST:
        raise ValueError(
            f"{path.name} holds {size / 2**30:.0f} GiB; at most {LARGEST / 2**30:.0f} are read"
        )
    with path.open("rb") as file:
        opening = file.read(9)
    # A safetensors file opens with the length of its header, which may look like a
    # pickle's first bytes; the brace behind it tells the two apart.
    pickled = opening.startswith((b"PK", b"\x80")) and opening[8:] != b"{"
    if path.suffix.lower() in PICKLES or pickled:
        raise ValueError(f"{path.name} is a pickle, and no pickle is loaded; {RECIPE}")
    try:
        with safe_open(path, framework="np") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: _plain(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError, MemoryError) as error:
        raise ValueError(
            f"{path.name} is not a whole safetensors file: {error}"
        ) from None
    return tensors | _shared(tensors, metadata), metadata


def _shared(tensors: Tensors, metadata: Mapping[str, str]) -> Tensors:
    """Tied weights: `save_model` writes them once and names the others in the metadata."""
    return {
        name: tensors[kept]
        for name, kept in metadata.items()
        if name not in tensors and kept in tensors
    }


def _plain(tensor: np.ndarray) -> np.ndarray:
    """Half precisions widened to float32, which holds them exactly."""
    if tensor.dtype == np.float64 or tensor.dtype.kind in "iub":
        return tensor
    return tensor.astype(np.float32)


def write(
    path: str | os.PathLike, tensors: Mapping[str, np.ndarray], metadata: Mapping
) -> None:
    """Write a file whole or not at all."""
    path = pathlib.Path(path)
    words = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in metadata.items()
    }
    whole = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    written_whole(path, serialized(whole, metadata=words)).chmod(0o644)


def finite(tensors: Tensors) -> Tensors:
    """The same tensors, refused if any holds NaN or infinity."""
    for name, tensor in tensors.items():
        if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
            count = int((~np.isfinite(tensor)).sum())
            raise ValueError(
                f"{name} holds {count} values that are NaN or infinite; "
                "a network with finite weights would do"
            )
    return tensors
