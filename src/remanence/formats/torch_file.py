"""torch's .pt, .pth and .bin files, zip or legacy: the tensors of every dictionary inside.

A zip holds `data.pkl`, which describes the tensors, and one record of plain numbers a
storage; the legacy format holds five pickles and then the numbers. Every offset, size
and stride is checked against the numbers that are there.
"""

import io
import math
import mmap
import pathlib
import zipfile
from typing import Any

import jax.numpy as jnp
import numpy as np

from .pickle_free import Described, value_of, WOULD_DO
from .safetensors import plain, Tensors
from .state_dict import LAYER


READ = mmap.ACCESS_READ
MAGIC = 0x1950A86A20F9469CFC6C
LARGEST_PICKLE = 64 * 2**20
DEEPEST = 16
REPEATED = 8
"""How often the same numbers may stand in a file under different names."""
Numbers = dict[str, bytes]


def read(path: pathlib.Path) -> dict[str, Tensors]:
    """The state dicts in a file, by their place in it ("" where it is the whole)."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return _from_zip(archive, path.stat().st_size)
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=READ) as bytes_:
            return _from_legacy(bytes_)
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, RuntimeError) as error:
        # RuntimeError: zipfile's word for an encrypted record.
        raise ValueError(f"{path.name} is not read: {error}") from None


def _from_zip(archive: zipfile.ZipFile, size: int) -> dict[str, Tensors]:
    records = {info.filename: info for info in archive.infolist()}
    if any(name.endswith("constants.pkl") for name in records):
        raise ValueError(f"it is a TorchScript archive; {WOULD_DO}")
    found = [name for name in records if name.endswith("data.pkl")]
    if len(found) != 1:
        raise ValueError("it is a zip without a data.pkl, so no file of torch's")
    if any(info.compress_type for info in records.values()):
        raise ValueError("its records are compressed, which torch's are not")
    if sum(info.file_size for info in records.values()) > size:
        raise ValueError("its records hold more bytes than the file")  # they overlap
    if records[found[0]].file_size > LARGEST_PICKLE:
        raise ValueError(f"its pickle is above {LARGEST_PICKLE // 2**20} MiB")
    stem = found[0].removesuffix("data.pkl")
    order = f"{stem}byteorder"
    if order in records and archive.read(order) != b"little":
        raise ValueError("its numbers are big-endian; little-endian ones would do")
    wanted = _state_dicts(value_of(io.BytesIO(archive.read(found[0]))))
    keys = {tensor.storage.key for each in wanted.values() for tensor in each.values()}
    there = [key for key in keys if f"{stem}data/{key}" in records]
    return _tensors(wanted, {key: archive.read(f"{stem}data/{key}") for key in there})


def _from_legacy(file: mmap.mmap) -> dict[str, Tensors]:
    """Mapped, a file gives no more than it has, whatever a pickle asks for."""
    if value_of(file) != MAGIC:
        raise ValueError(f"it is a pickle, but not torch's; {WOULD_DO}")
    for _ in range(2):  # the protocol, and the machine that it came from
        value_of(file)
    value, keys = value_of(file), value_of(file)
    found = [v.storage for _, v in _nested_values(value) if isinstance(v, Described)]
    items = {storage.key: jnp.dtype(storage.kind).itemsize for storage in found}
    numbers: Numbers = {}
    for key in keys if isinstance(keys, list) else ():
        if not isinstance(key, str) or key not in items:
            raise ValueError("it holds numbers that no tensor describes")
        length = int.from_bytes(file.read(8), "little") * items[key]
        numbers[key] = file.read(min(length, file.size()))
        if len(numbers[key]) != length:
            raise ValueError("its numbers are cut short")
    return _tensors(_state_dicts(value), numbers)


def _nested_values(value: Any) -> list[tuple[str, Any]]:
    """Every value inside, once, by its dotted place; nothing deeper than checkpoints are."""
    found, waiting, seen = [], [("", value, 0)], set()
    while waiting:
        place, value, depth = waiting.pop()
        found.append((place, value))
        if isinstance(value, dict | list | tuple) and id(value) not in seen and depth < DEEPEST:
            seen.add(id(value))
            items = value.items() if isinstance(value, dict) else enumerate(value)
            dot = "." if place else ""
            waiting += [(f"{place}{dot}{key}", v, depth + 1) for key, v in items]
    return found


def _state_dicts(value: Any) -> dict[str, dict[str, Described]]:
    """Of all dictionaries with tensors those that name recurrent ones; else the largest."""
    inside: dict[str, dict[str, Described]] = {}
    for place, each in _nested_values(value):
        values = each.items() if isinstance(each, dict) else ()
        if tensors := {str(name): v for name, v in values if isinstance(v, Described)}:
            inside[place] = tensors
    if not inside:
        raise ValueError("it holds no tensors by name; a state dict would do")
    wanted = {p: each for p, each in inside.items() if any(map(LAYER.match, each))}
    return wanted or dict([max(inside.items(), key=lambda item: len(item[1]))])


def _tensors(wanted: dict[str, dict[str, Described]], numbers: Numbers) -> dict[str, Tensors]:
    count = 0
    for name, tensor in [item for each in wanted.values() for item in each.items()]:
        if tensor.storage.key not in numbers:
            raise ValueError(f"the numbers of {name!a} are missing")
        count += math.prod(_whole(tensor.size))
    if count > REPEATED * sum(map(len, numbers.values())):
        raise ValueError("its tensors repeat the same numbers too often")
    return {
        place: {name: _tensor(name, t, numbers) for name, t in each.items()}
        for place, each in wanted.items()
    }


def _whole(values: Any) -> tuple[int, ...]:
    """Sizes or strides, refused unless they are whole numbers from 0 on."""
    plain_int = lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0
    if not isinstance(values, tuple | list) or not all(map(plain_int, values)):
        raise ValueError("it describes a tensor whose sizes are no whole numbers")
    if len(values) > 32:
        raise ValueError(f"it describes a tensor of {len(values)} dimensions")
    return tuple(values)


def _tensor(name: str, tensor: Described, numbers: Numbers) -> np.ndarray:
    """The numbers of a tensor, every index of which lies within its storage."""
    item, data = jnp.dtype(tensor.kind), numbers[tensor.storage.key]
    flat = np.frombuffer(data, item, len(data) // item.itemsize)
    if tensor.storage.view is not None:
        start, length = _whole(tensor.storage.view[1:])
        flat = flat[start : start + length]
    size, stride, (offset,) = map(_whole, (tensor.size, tensor.stride, (tensor.offset,)))
    if len(size) != len(stride):
        raise ValueError(f"{name!a} has {len(size)} sizes and {len(stride)} strides")
    if 0 in size:
        return plain(np.zeros(size, item))
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if last >= flat.size or math.prod(size) > flat.size:
        raise ValueError(f"{name!a} reaches beyond its {flat.size} numbers")
    steps = [step * item.itemsize for step in stride]
    view = np.lib.stride_tricks.as_strided(flat[offset:], size, steps, writeable=False)
    return plain(np.array(view))
