"""Which reader a file needs: by what it holds, not by what it is called."""

import json
import os
import pathlib
import zipfile
from typing import Any

import jax
import jax.numpy as jnp

from ..cells import output
from ..nets import Recurrent
from . import hugging_face, keras, layouts, native, npz, onnx, safetensors, state_dict, torch_file
from .keras.store import MAGIC
from .reading import Options, Reading, Taken


PICKLES = {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"}


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
        inside = state_dict.networks(safetensors.finite(tensors))
        found |= {f"{stem}{name}": reading for name, reading in inside.items()}
    return found


def _of_safetensors(path: pathlib.Path, layout: str) -> dict[str, Reading]:
    tensors, metadata = safetensors.read(path)
    safetensors.finite(tensors)
    described = _metadata(metadata)
    if "cell" in described:
        return {"": lambda options: _native(described, tensors, options)}
    found = state_dict.networks(layouts.as_torch(tensors, layout))

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


def _native(
    described: dict[str, Any], tensors: safetensors.Tensors, options: Options
) -> tuple[Recurrent, Taken]:
    """A network of ours, whose file describes it fully."""
    positions = options.filled_from(described).positions or "every"
    cell = native.rebuilt(described["cell"], tensors, "cell.")
    part = lambda name: jnp.asarray(tensors[name]) if name in tensors else None
    names = ("readout.weight", "readout.bias", "embedding.weight")
    W_y, b_y, W_e = (part(name) for name in names)
    native.refuse_misfits(Recurrent, {"W_y": W_y, "b_y": b_y, "embedding": W_e})
    units = jax.eval_shape(lambda: output(cell, cell.initial_state())).size
    for name, end, size in (("readout", W_y, units), ("embedding", W_e, cell.input_size)):
        if end is not None and (end.shape[1] != size or not len(end)):
            raise ValueError(
                f"the file's {name} is {list(end.shape)}; some rows of {size} would do"
            )
    net = Recurrent(cell, W_y, b_y, W_e, positions)
    kind = described["cell"]["kind"]
    there = [name if name in tensors else "" for name in names]
    return net, Taken(kind, "", there[2], there[0], positions)
