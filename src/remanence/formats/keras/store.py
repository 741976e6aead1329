"""What a Keras file holds: arrays by their place, and the layers of its configuration.

`.keras` is a zip of `config.json` and `model.weights.h5`; `.h5` and `.hdf5` hold the same
in one file. Only groups and plain arrays are followed: a link to another file, numbers
stored outside or put together from elsewhere are refused. Nothing of the configuration
is turned into an object. The user's names stand in the configuration. Old files keep weights
under these names, new ones under the name of the class, numbered in the order of the layers.
"""

import dataclasses
import io
import json
import pathlib
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._natural_sort import natural_sort_key
from ..reading import extra_library
from ..safetensors import finite, largest_swollen, plain, Tensors


MAGIC = b"\x89HDF\r\n\x1a\n"
MOST = 100_000
CURRENT = (3, 0)
MODELS = ("Sequential", "Functional", "Model")
DEEPEST = 16
Arrays = tuple[Any, Any, Any]
"""Kernel, recurrent kernel and bias of a layer, the first and the last None where it has none."""


@dataclasses.dataclass(frozen=True)
class Store:
    """The arrays of a file by their place, and its model's configuration (or None)."""

    arrays: Tensors
    config: Any
    version: tuple[int, ...]


def store_of(path: pathlib.Path) -> Store:
    """Read a file; what is malformed or leads elsewhere is refused with a sentence."""
    h5py = extra_library("h5py", "keras")
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return _from_zip(h5py, archive, path.stat().st_size)
        with h5py.File(path, "r") as file:
            words, version = (file.attrs.get(f) for f in ("model_config", "keras_version"))
            config = None if words is None else json.loads(words)
            return Store(_arrays(h5py, file, path.stat().st_size), config, _version(version))
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
    version = metadata.get("keras_version") if isinstance(metadata, dict) else None
    with h5py.File(io.BytesIO(archive.read("model.weights.h5")), "r") as file:
        return Store(_arrays(h5py, file, size), config, _version(version))


def _arrays(h5py: Any, file: Any, size: int) -> Tensors:
    """The arrays of an HDF5 file by their place."""
    arrays: Tensors = {}
    waiting, room, count, seen = [("", file)], largest_swollen(size), 0, set()
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
    return finite(arrays)


def _version(text: Any) -> tuple[int, ...]:
    text = text.decode(errors="replace") if isinstance(text, bytes) else str(text or "")
    found = re.match(r"(\d{1,4})\.(\d{1,4})", text)
    return (int(found[1]), int(found[2])) if found else CURRENT


@dataclasses.dataclass(frozen=True, eq=False)
class Layer:
    """One layer; `input` are the layers of the same model that feed it, if known."""

    name: str
    """Its own name; `path` are the models round it."""
    path: str
    kind: str
    settings: dict[str, Any]
    weights: Tensors
    input: tuple[str, ...] = ()

    @property
    def output(self) -> tuple[str]:
        """Its values: the one of its name."""
        return (self.name,)


def models_of(store: Store) -> list[list[Layer]]:
    """The layers of every model in a file, those of models inside models apart."""
    old = not any(place.startswith("layers/") for place in store.arrays)
    if store.config is None:
        return [_unconfigured(store, old)]
    return list(_models(store.config, store.arrays, "model_weights/" if old else "", old, ""))


def _models(config: Any, arrays: Tensors, root: str, old: bool, path: str) -> Iterator[list[Layer]]:
    """The layers of the models inside one, and its own."""
    if path.count("/") > DEEPEST:
        raise ValueError(f"models are nested more than {DEEPEST} deep")
    inner = config.get("config", ())
    layers, counts = [], {}
    previous: tuple[str, ...] = ()
    for each in inner.get("layers", ()) if isinstance(inner, dict) else inner:
        kind, settings = str(each["class_name"]), each["config"]
        settings = settings if isinstance(settings, dict) else {}
        name = str(each.get("name") or settings.get("name", ""))
        stem = snake_case(kind)
        number = counts[stem] = counts.get(stem, -1) + 1
        place = f"{root}{name}/" if old else f"{root}layers/{stem}{f'_{number}' if number else ''}/"
        if kind in MODELS:
            # Old files keep all weights of a model inside under its one name.
            yield from _models(each, arrays, place, old, f"{path}{name}/")
        weights = _under(arrays, place)
        if old and not weights and path:
            inside = _under(arrays, root).items()
            weights = {key: t for key, t in inside if name in key.split("/")}
        if "inbound_nodes" in each:
            nodes = each["inbound_nodes"]
            previous = tuple(_inbound_names(nodes)) if len(nodes) <= 1 else ("", "")
        layers.append(Layer(name, path, kind, settings, weights, previous))
        previous = (name,)
    yield layers


def _under(arrays: Tensors, place: str) -> Tensors:
    """The arrays below a place by the rest of their names."""
    return {name.removeprefix(place): t for name, t in arrays.items() if name.startswith(place)}


def _inbound_names(node: Any) -> list[str]:
    """The names of layers in an inbound node, in Keras 2's or 3's way of writing one."""
    if isinstance(node, dict) and "keras_history" in node:
        return [str(node["keras_history"][0])]
    if isinstance(node, list) and node and isinstance(node[0], str):
        return [node[0]]
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [name for value in inside for name in _inbound_names(value)]


def snake_case(name: str) -> str:
    """The name of a class as Keras writes it into files."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


def _unconfigured(store: Store, old: bool) -> list[Layer]:
    """Layers of a file of weights alone: nobody knows their kind or their neighbours."""
    names: dict[str, str] = {}
    parts = (r"(?P<layer>.*?)/((forward|backward)_layer/)?cell/", r"(?P<layer>.*?)/(layer/)?vars/")
    for place in store.arrays:
        inside = place.removeprefix("model_weights/")
        if old:
            names[inside.partition("/")[0]] = place[: len(place) - len(inside)]
        elif found := re.match(parts[0], place) or re.match(parts[1], place):
            names[found["layer"]] = ""
    ordered = sorted(names, key=natural_sort_key)
    below = lambda name: _under(store.arrays, f"{names[name]}{name}/")
    return [Layer(name.removeprefix("layers/"), "", "", {}, below(name)) for name in ordered]


def recurrent_arrays(arrays: Tensors) -> dict[str, Arrays]:
    """The arrays of each recurrent part below a layer, by its place."""
    found: dict[str, Arrays] = {}
    named = {name.removesuffix(":0"): tensor for name, tensor in arrays.items()}
    for name, tensor in named.items():
        place, _, last = name.rpartition("/")
        at = lambda what, place=place: named.get(f"{place}/{what}" if place else what)
        if last == "recurrent_kernel":
            found[place] = at("kernel"), tensor, at("bias")
        elif last == "1" and place.endswith("vars") and "cell" in place and tensor.ndim == 2:
            found[place] = at("0"), tensor, at("2")
    return found
