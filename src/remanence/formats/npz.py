"""NumPy's .npz: named arrays, under torch's names or the short ones that people write."""

import pathlib
import re
import zipfile

import numpy as np

from .safetensors import largest_swollen, plain, Tensors


RECURRENT = re.compile(r"^(?P<stem>.*?)[._]?(?P<what>w|b)_(?P<side>[ih]h)(?P<rest>.*)$")


def read(path: pathlib.Path) -> Tensors:
    """The arrays of numbers in a file; anything else in it is refused or passed over."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(info.file_size for info in archive.infolist())
        if size > largest_swollen(path.stat().st_size):
            raise ValueError(f"its arrays swell to {size >> 20} MiB")
        with np.load(path, allow_pickle=False) as arrays:
            tensors = {name: np.asarray(arrays[name]) for name in arrays.files}
    except Exception as error:  # a dozen kinds, from zlib's to those of its tokenizer
        raise ValueError(f"{path.name} is not read: {error}") from None
    numbers = {name: plain(t) for name, t in tensors.items() if t.dtype.kind in "fciub"}
    return {_torch_name(name, numbers): tensor for name, tensor in numbers.items()}


def _torch_name(name: str, names: Tensors) -> str:
    """`enc_w_ih` is `enc.weight_ih`, and `fc_w` beside `fc_b` is `fc.weight`."""
    if match := RECURRENT.match(name):
        stem = f"{match['stem']}." if match["stem"] else ""
        word = {"w": "weight", "b": "bias"}[match["what"]]
        return f"{stem}{word}_{match['side']}{match['rest']}"
    stem = name[:-2]
    if name.endswith(("_w", "_b")) and f"{stem}_w" in names and f"{stem}_b" in names:
        return f"{stem}.{'weight' if name.endswith('_w') else 'bias'}"
    return name
