"""`load` and `recurrent_modules`: networks out of files, and out of torch modules in memory.

Which reader a file needs follows from what it holds, not from what it is called.
"""

import dataclasses
import json
import os
import pathlib
import re
import sys
import zipfile
from typing import Any

import numpy as np

from .._escape import printable
from .._natural_sort import natural_sort_key
from ..cells import input_size, output
from ..nets import Recurrent
from . import hugging_face, keras, onnx, safetensors, state_dict, torch_file
from .keras.store import MAGIC
from .reading import FullAttention, Options, Reading, Taken
from .saving import saved_network
from .state_dict import AmbiguousEnds
from .torch import live_networks


SHORT_NAME = re.compile(r"^(?P<stem>.*?)[._]?(?P<what>w|b)_(?P<side>[ih]h)(?P<rest>.*)$")
WORDS = {"w": "weight", "b": "bias"}
PICKLES = {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"}


def load(
    path: str | os.PathLike,
    *,
    prefix: str | None = None,
    activation: str | None = None,
    embedding: str | None = None,
    readout: str | None = None,
    positions: str | None = None,
    quiet: bool = False,
) -> Recurrent:
    """The recurrent network in a file.

    Read are .safetensors, torch's .pt, .pth and .bin, .npz, .onnx (with onnx installed),
    Keras's .keras, .h5 and .hdf5 (with h5py), and Hugging Face folders. Nothing in a
    file is executed. Of several networks `prefix` names one (`recurrent_modules`
    lists them). What a state dict does not say is given by keyword or by the file's
    metadata: `activation` ("tanh" or "relu", for an RNN; tanh unless given), which matrices
    are `embedding` and `readout` (found by their shapes unless named; an empty string:
    none), and `positions` ("every" step is read out, or the "last"). What was taken is
    printed unless `quiet`. Double precision is kept where JAX has it enabled.

    >>> import jax, pathlib, tempfile
    >>> from remanence import cells, formats
    >>> net = Recurrent.init(cells.LSTM.init(3, 5, key=jax.random.key(0)),
    ...                      outputs=2, key=jax.random.key(1))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> formats.save(net, path)
    >>> type(load(path, quiet=True).cell).__name__
    'LSTM'
    """
    options = {"activation": activation, "embedding": embedding, "readout": readout}
    net, taken = load_and_tell(path, prefix=prefix, positions=positions, **options)
    if not quiet:
        sys.stderr.write(f"loaded: {printable(taken)}\n")
    return net


def load_and_tell(
    path: str | os.PathLike, *, prefix: str | None = None, **options: str | None
) -> tuple[Recurrent, str]:
    """As `load`, with what was taken in words."""
    chosen, found = Options(**options), readings(path)  # pyright: ignore[reportArgumentType]
    names = sorted(found, key=natural_sort_key)
    if prefix is None and len(names) > 1 and "" not in names:
        raise ValueError(f"several recurrent modules came, {names}; name one by prefix=")
    name = names[0] if prefix is None else prefix.rstrip(".")
    if name not in found:
        raise ValueError(f"no recurrent module is called {prefix!r}, only {names}")
    net, taken = found[name](chosen)
    return net, str(taken)


@dataclasses.dataclass(frozen=True)
class RecurrentModule:
    """One recurrent network of a file."""

    name: str
    net: Recurrent
    taken: Taken
    """What of the file it was made from; `str()` is one line."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Inputs, then the outputs of each layer."""
        layers = getattr(self.net.cell, "cells", (self.net.cell,))
        widths = [output(cell, cell.initial_state()).size for cell in layers]
        return (input_size(self.net.cell) or 0, *widths)

    def __str__(self) -> str:
        return f"{' → '.join(map(str, self.sizes))}: {self.taken}"


def recurrent_modules(source: Any, *, activation: str | None = None) -> dict[str, RecurrentModule]:
    """Every recurrent network of a file, or of a torch module in memory, by its name.

    Names are those that `prefix=` of `load` takes. Each direction of a bidirectional
    layer is a network of its own. An embedding or readout that a file leaves open is left
    out, and `taken` gives the reason; networks of a module have neither.
    """
    if not isinstance(source, str | os.PathLike):
        live = live_networks(source)
        return {name: RecurrentModule(name, *found) for name, found in live.items()}
    found: dict[str, RecurrentModule] = {}
    for name, read in readings(source).items():
        try:
            net, taken = read(Options(activation=activation))
        except FullAttention:
            continue
        except AmbiguousEnds as error:
            net, taken = read(Options(activation, embedding="", readout=""))
            remarks = taken.remarks | {"readout": str(error)}
            taken = dataclasses.replace(taken, remarks=remarks)
        found[name] = RecurrentModule(name, net, taken)
    return found


def readings(path: str | os.PathLike) -> dict[str, Reading]:
    """Every recurrent network in a file by its name, none of them built yet."""
    path = pathlib.Path(path)
    if path.is_dir() and hugging_face.is_model(path):
        return hugging_face.networks(path)
    path, suffix = safetensors.check_file(path), path.suffix.lower()
    with path.open("rb") as file:
        opening = file.read(9)
    # A safetensors file opens with the length of its header, which may look like the
    # first bytes of anything; the brace behind it tells them apart.
    if opening[8:] == b"{":
        return _of_safetensors(path)
    if zipfile.is_zipfile(path):
        return _of_zip(path)
    if opening.startswith(MAGIC):
        return keras.networks(path)
    if suffix == ".onnx":
        return onnx.networks(path)
    if opening[:1] == b"\x80" or suffix in PICKLES:
        return _of_scopes(torch_file.read(path))
    if suffix == ".safetensors":
        return _of_safetensors(path)
    known = ".safetensors, .pt, .npz, .onnx, .h5 and .keras are read"
    raise ValueError(f"{path.name} is no file of weights that is known; {known}")


def _of_zip(path: pathlib.Path) -> dict[str, Reading]:
    try:
        with zipfile.ZipFile(path) as archive:
            size, names = sum(each.file_size for each in archive.infolist()), archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ValueError(f"{path.name} is not a whole zip: {error}") from None
    if names and all(name.endswith(".npy") for name in names):
        return _of_scopes({"": _npz_tensors(path, size)})
    if "model.weights.h5" in names or path.suffix.lower() == ".keras":
        return keras.networks(path)
    return _of_scopes(torch_file.read(path))


def _of_scopes(scopes: dict[str, safetensors.Tensors]) -> dict[str, Reading]:
    """The networks of the state dicts in one file, named by their place if they are several."""
    found: dict[str, Reading] = {}
    for place, tensors in scopes.items():
        safetensors.finite(tensors)
        stem = f"{place}." if place and len(scopes) > 1 else ""
        inside = hugging_face.rwkv7_networks(tensors) or state_dict.networks(tensors)
        found |= {f"{stem}{name}": reading for name, reading in inside.items()}
    return found


def _of_safetensors(path: pathlib.Path) -> dict[str, Reading]:
    tensors, metadata = safetensors.read(path)
    described = _metadata(metadata)
    if "cell" in described:
        finite = safetensors.finite(tensors)
        return {"": lambda options: saved_network(described, finite, options)}
    filled = lambda read: lambda options: read(options.filled_from(described))
    return {name: filled(read) for name, read in _of_scopes({"": tensors}).items()}


def _metadata(metadata: dict[str, str]) -> dict[str, Any]:
    """What the file's metadata holds under our name; refused if it is not a JSON object."""
    try:
        described = json.loads(metadata.get("remanence", "{}"))
    except (ValueError, RecursionError):  # also of numbers with thousands of digits
        raise ValueError("the file's remanence metadata is not JSON") from None
    if not isinstance(described, dict):
        raise ValueError("the file's remanence metadata is not a JSON object")
    wrong = [k for k, v in described.items() if k != "cell" and not isinstance(v, str)]
    if wrong:
        raise ValueError(f"the file's remanence metadata is not text at {wrong[0]!r}")
    return described


def _npz_tensors(path: pathlib.Path, size: int) -> safetensors.Tensors:
    """The arrays of numbers in an .npz under torch's names; what is no array is refused."""
    if size > safetensors.largest_swollen(path.stat().st_size):
        raise ValueError(f"{path.name} is not read: its arrays swell to {size >> 20} MiB")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            tensors = {name: np.asarray(arrays[name]) for name in arrays.files}
    except Exception as error:  # a dozen kinds, from zlib's to those of its tokenizer
        raise ValueError(f"{path.name} is not read: {error}") from None
    numbers = {name: safetensors.plain(t) for name, t in tensors.items() if t.dtype.kind in "fciub"}
    return {_torch_name(name, numbers): tensor for name, tensor in numbers.items()}


def _torch_name(name: str, names: safetensors.Tensors) -> str:
    """`enc_w_ih` is `enc.weight_ih`, and `fc_w` beside `fc_b` is `fc.weight`."""
    if match := SHORT_NAME.match(name):
        stem = f"{match['stem']}." if match["stem"] else ""
        return f"{stem}{WORDS[match['what']]}_{match['side']}{match['rest']}"
    stem, _, last = name.rpartition("_")
    pair = last in WORDS and all(f"{stem}_{letter}" in names for letter in WORDS)
    return f"{stem}.{WORDS[last]}" if pair else name
