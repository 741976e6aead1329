"""The layers of a Keras model in order: their settings, weights and neighbours.

The user's names stand in the configuration. Old files keep weights under these names;
new ones under the name of the class, natural_sort_key in the order of the layers.
"""

import dataclasses
import re
from typing import Any

from ..._natural_sort import natural_sort_key
from ..safetensors import Tensors
from .store import Store


MODELS = ("Sequential", "Functional", "Model")
DEEPEST = 16


@dataclasses.dataclass(frozen=True, eq=False)
class Layer:
    """One layer; `before` are the layers of the same model that feed it, if known."""

    name: str
    """Its own name; `path` are the models round it."""
    path: str
    kind: str
    settings: dict[str, Any]
    weights: Tensors
    before: tuple[str, ...] | None


def models_of(store: Store) -> list[list[Layer]]:
    """The layers of every model in a file, those of models inside models apart."""
    old = not any(place.startswith("layers/") for place in store.arrays)
    if store.config is None:
        return [_unconfigured(store, old)]
    root = "model_weights/" if old else ""
    found: list[list[Layer]] = []
    _collect(store.config, store.arrays, root, old, "", found)
    return found


def _collect(
    config: Any, arrays: Tensors, root: str, old: bool, path: str, found: list[Any]
) -> None:
    """Append the layers of one model, and of those inside."""
    if path.count("/") > DEEPEST:
        raise ValueError(f"models are nested more than {DEEPEST} deep")
    inner = config.get("config", ())
    described = inner.get("layers", ()) if isinstance(inner, dict) else inner
    layers, counts = [], {}
    previous: tuple[str, ...] = ()
    for each in described:
        kind, settings = str(each["class_name"]), each["config"]
        name = str(settings.get("name", "") if isinstance(settings, dict) else "")
        name = str(each.get("name") or name)
        stem = snake_case(kind)
        number = counts[stem] = counts.get(stem, -1) + 1
        place = f"{root}{name}/" if old else f"{root}layers/{stem}{f'_{number}' if number else ''}/"
        if kind in MODELS:
            # Old files keep all weights of a model inside under its one name.
            _collect(each, arrays, place, old, f"{path}{name}/", found)
        weights = _under(arrays, place)
        if old and not weights and path:
            inside = _under(arrays, root)
            weights = {key: t for key, t in inside.items() if name in key.split("/")}
        before = previous
        if "inbound_nodes" in each:
            nodes = each["inbound_nodes"]
            before = tuple(_inbound_names(nodes)) if len(nodes) <= 1 else ("", "")
        settings = settings if isinstance(settings, dict) else {}
        layers.append(Layer(name, path, kind, settings, weights, before))
        previous = (name,)
    found.append(layers)


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
    for place in store.arrays:
        inside = place.removeprefix("model_weights/")
        if old:
            names[inside.partition("/")[0]] = place[: len(place) - len(inside)]
        elif (found := re.match(r"(?P<layer>.*?)/((forward|backward)_layer/)?cell/", place)) or (
            found := re.match(r"(?P<layer>.*?)/(layer/)?vars/", place)
        ):
            names[found["layer"]] = ""
    known = [name for name in store.order if name in names]
    ordered = [*known, *sorted({*names} - {*known}, key=natural_sort_key)]
    below = lambda name: _under(store.arrays, f"{names[name]}{name}/")
    return [Layer(name.removeprefix("layers/"), "", "", {}, below(name), None) for name in ordered]
