"""What a Keras file holds: arrays by their place, the configuration as plain JSON.

`.keras` is a zip of `config.json` and `model.weights.h5`; `.h5` and `.hdf5` hold the same
in one file. Only groups and plain arrays are followed: a link to another file, numbers
stored outside or put together from elsewhere are refused. Nothing of the configuration
is turned into an object.
"""

import dataclasses
import io
import json
import pathlib
import re
import zipfile
from importlib import import_module
from typing import Any

import numpy as np

from ..safetensors import finite, largest_swollen, plain, Tensors


MAGIC = b"\x89HDF\r\n\x1a\n"
MOST = 100_000
CURRENT = (3, 0)


@dataclasses.dataclass(frozen=True)
class Store:
    """The arrays of a file by their place, and its model's configuration (or None)."""

    arrays: Tensors
    config: Any
    version: tuple[int, ...]
    order: tuple[str, ...] = ()
    """Names of layers in their order, where a file of weights alone gives them."""


def store_of(path: pathlib.Path) -> Store:
    """Read a file; what is malformed or leads elsewhere is refused with a sentence."""
    try:
        h5py = import_module("h5py")
    except ImportError:
        raise ValueError(
            f"{path.name} needs h5py to be read; `pip install '.[keras]'` would do"
        ) from None
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return _from_zip(h5py, archive, path.stat().st_size)
        with h5py.File(path, "r") as file:
            return _from_file(h5py, file, path.stat().st_size)
    except Exception as error:  # a dozen kinds, from zlib's to those of HDF5
        why = str(error).partition("\n")[0]
        raise ValueError(f"{path.name} is not read: {why}") from None


def _from_zip(h5py: Any, archive: zipfile.ZipFile, size: int) -> Store:
    swollen = sum(info.file_size for info in archive.infolist())
    if swollen > largest_swollen(size):
        raise ValueError(f"its records swell to {swollen >> 20} MiB")
    names = archive.namelist()
    for name in ("config.json", "model.weights.h5"):
        if name not in names:
            raise ValueError(f"it is a zip without {name}, so no file of Keras's")
    config = json.loads(archive.read("config.json"))
    metadata = json.loads(archive.read("metadata.json")) if "metadata.json" in names else {}
    with h5py.File(io.BytesIO(archive.read("model.weights.h5")), "r") as file:
        inside = _from_file(h5py, file, size)
    version = metadata.get("keras_version") if isinstance(metadata, dict) else None
    return dataclasses.replace(inside, config=config, version=_version(version))


def _from_file(h5py: Any, file: Any, size: int) -> Store:
    arrays: Tensors = {}
    waiting, room = [("", file)], largest_swollen(size)
    count, seen = 0, set()
    while waiting:
        place, group = waiting.pop()
        for name in group:
            count += 1
            if count > MOST:
                raise ValueError(f"it holds more than {MOST} groups and arrays")
            link = group.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                raise ValueError(f"{name!a} is a link to somewhere else")
            inner, found = f"{place}{name}", group[name]
            if isinstance(found, h5py.Group):
                address = h5py.h5o.get_info(found.id).addr
                if address not in seen and not inner.startswith("optimizer"):
                    waiting.append((f"{inner}/", found))
                seen.add(address)  # groups may contain each other
                continue
            if not isinstance(found, h5py.Dataset) or found.dtype.kind not in "fiub":
                continue
            if found.is_virtual or found.external:
                raise ValueError(f"the numbers of {name!a} lie in another file")
            room -= found.size * found.dtype.itemsize
            if room < 0:
                raise ValueError("its arrays swell beyond the file's size")
            arrays[inner] = plain(np.asarray(found[()]))
    words = file.attrs.get("model_config")
    config = None if words is None else json.loads(words)
    version = _version(file.attrs.get("keras_version"))
    order = tuple(_text(name) for name in np.ravel(file.attrs.get("layer_names", ())))
    return Store(finite(arrays), config, version, order)


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _version(text: Any) -> tuple[int, ...]:
    found = re.match(r"(\d{1,4})\.(\d{1,4})", _text(text or ""))
    return (int(found[1]), int(found[2])) if found else CURRENT
