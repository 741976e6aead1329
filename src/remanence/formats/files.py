"""`load` and `recurrent_modules`: networks out of files, and out of torch modules in memory.

Which reader a file needs follows from what it holds, not from what it is called.
"""

import dataclasses
import json
import os
import pathlib
import sys
import zipfile
from typing import Any

from .._escape import printable
from .._natural_sort import natural_sort_key
from ..cells import input_size, output
from ..nets import Recurrent
from . import hugging_face, keras, layouts, native, npz, onnx, safetensors, state_dict, torch_file
from .ends import AmbiguousEnds
from .keras.store import MAGIC
from .reading import Options, Reading, Taken
from .torch import live_networks


PICKLES = {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"}


def load(
    path: str | os.PathLike,
    *,
    layout: str = "torch",
    activation: str | None = None,
    prefix: str | None = None,
    embedding: str | None = None,
    readout: str | None = None,
    positions: str | None = None,
    quiet: bool = False,
) -> Recurrent:
    """The recurrent network in a file.

    Read are .safetensors, torch's .pt, .pth and .bin, .npz, .onnx (with onnx installed),
    and Keras's .keras, .h5 and .hdf5 (with h5py). Nothing in a file is executed. Of
    several networks `prefix` names one (`recurrent_modules` lists them).

    In a state dict names are those of `torch.nn` RNN, LSTM and GRU and their cells. The kind and the sizes follow from the shapes. What a state dict does not say is
    given by keyword or by the file's metadata: `activation` ("tanh" or "relu", for
    an RNN; tanh unless given), which matrices are `embedding` and `readout` (found
    by their shapes unless named; an empty string: none), and `positions` ("every"
    step is read out, or the "last"). What was taken is printed unless `quiet`.
    `layout` is "torch", "keras" or "flax". Double precision in the file is kept
    where JAX has it enabled, and rounded to float32 elsewhere.

    >>> import jax, pathlib, tempfile
    >>> from remanence import cells, formats
    >>> net = Recurrent.init(cells.LSTM.init(3, 5, key=jax.random.key(0)),
    ...                      outputs=2, key=jax.random.key(1))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> formats.save(net, path)
    >>> type(load(path, quiet=True).cell).__name__
    'LSTM'
    """
    net, taken = load_and_tell(
        path,
        layout=layout,
        prefix=prefix,
        activation=activation,
        embedding=embedding,
        readout=readout,
        positions=positions,
    )
    if not quiet:
        sys.stderr.write(f"loaded: {printable(taken)}\n")
    return net


def load_and_tell(
    path: str | os.PathLike,
    *,
    layout: str = "torch",
    prefix: str | None = None,
    **options: str | None,
) -> tuple[Recurrent, str]:
    """As `load`, with what was taken in words."""
    net, taken = _chosen(readings(path, layout=layout), prefix)(Options(**options))  # pyright: ignore[reportArgumentType]
    return net, str(taken)


def _chosen(found: dict[str, Reading], prefix: str | None) -> Reading:
    names = sorted(found, key=natural_sort_key)
    if prefix is None:
        if len(found) != 1:
            raise ValueError(f"several recurrent modules came, {names}; name one by prefix=")
        return found[names[0]]
    name = prefix.rstrip(".")
    if name not in found:
        raise ValueError(f"no recurrent module is called {prefix!r}, only {names}")
    return found[name]


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


def recurrent_modules(
    source: Any, *, layout: str = "torch", activation: str | None = None
) -> dict[str, RecurrentModule]:
    """Every recurrent network of a file, or of a torch module in memory, by its name.

    Names are those that `prefix=` of `load` takes. Each direction of a bidirectional
    layer is a network of its own. An embedding or readout that a file leaves open is left
    out, and `taken` gives the reason; networks of a module have neither.
    """
    if not isinstance(source, str | os.PathLike):
        live = live_networks(source)
        return {name: RecurrentModule(name, *found) for name, found in live.items()}
    found: dict[str, RecurrentModule] = {}
    for name, read in readings(source, layout=layout).items():
        try:
            net, taken = read(Options(activation=activation))
        except AmbiguousEnds as error:
            net, taken = read(Options(activation, embedding="", readout=""))
            remarks = taken.remarks | {"readout": str(error)}
            taken = dataclasses.replace(taken, remarks=remarks)
        found[name] = RecurrentModule(name, net, taken)
    return found


def readings(path: str | os.PathLike, *, layout: str = "torch") -> dict[str, Reading]:
    """Every recurrent network in a file by its name, none of them built yet."""
    path = pathlib.Path(path)
    if path.is_dir() and hugging_face.is_model(path):
        return hugging_face.networks(path)
    path = safetensors.existing(path)
    with path.open("rb") as file:
        opening = file.read(9)
    # A safetensors file opens with the length of its header, which may look like the
    # first bytes of anything; the brace behind it tells them apart.
    if opening[8:] == b"{":
        return _of_safetensors(path, layout)
    if zipfile.is_zipfile(path):
        return _of_zip(path, layout)
    if opening.startswith(MAGIC[:8]):
        return keras.networks(path)
    if path.suffix.lower() == ".onnx":
        return onnx.networks(path)
    if opening[:1] == b"\x80" or path.suffix.lower() in PICKLES:
        return _scoped(torch_file.read(path))
    if path.suffix.lower() != ".safetensors":
        raise ValueError(
            f"{path.name} is no file of weights that is known; .safetensors, .pt, .npz, .onnx, "
            ".h5 and .keras are read"
        )
    return _of_safetensors(path, layout)


def _of_zip(path: pathlib.Path, layout: str) -> dict[str, Reading]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ValueError(f"{path.name} is not a whole zip: {error}") from None
    if names and all(name.endswith(".npy") for name in names):
        tensors = safetensors.finite(npz.read(path))
        return state_dict.networks(layouts.as_torch(tensors, layout))
    if "model.weights.h5" in names or path.suffix.lower() == ".keras":
        return keras.networks(path)
    return _scoped(torch_file.read(path))


def _scoped(scopes: dict[str, safetensors.Tensors]) -> dict[str, Reading]:
    """The networks of several state dicts in one file, each named by its place."""
    found: dict[str, Reading] = {}
    for place, tensors in scopes.items():
        stem = f"{place}." if place and len(scopes) > 1 else ""
        inside = _named(safetensors.finite(tensors))
        found |= {f"{stem}{name}": reading for name, reading in inside.items()}
    return found


def _named(tensors: safetensors.Tensors) -> dict[str, Reading]:
    """The networks of one state dict, by the names of its tensors."""
    if hugging_face.is_rwkv7(tensors):
        return {"": hugging_face.rwkv7_reading(tensors)}
    return state_dict.networks(tensors)


def _of_safetensors(path: pathlib.Path, layout: str) -> dict[str, Reading]:
    tensors, metadata = safetensors.read(path)
    safetensors.finite(tensors)
    described = _metadata(metadata)
    if "cell" in described:
        return {"": lambda options: native.network(described, tensors, options)}
    found = _named(layouts.as_torch(tensors, layout))

    def with_metadata(read: Reading) -> Reading:
        return lambda options: read(options.filled_from(described))

    return {name: with_metadata(read) for name, read in found.items()}


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
