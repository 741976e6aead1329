"""Keras files, old and new: every LSTM, GRU and SimpleRNN, alone, stacked or both ways.

Layers that follow each other directly are one network, with the embedding before and the
dense layer behind it where the configuration has them; each direction of a bidirectional
layer is a network of its own. A file of weights alone contains neither the order
of its layers nor the activations: each layer is then a network with the defaults of its version of Keras.
"""

import pathlib
from collections.abc import Callable
from functools import partial
from typing import Any

from ...nets import Recurrent
from ..reading import assemble, Options, Parts, Reading, Readout, Taken
from .chains import chains_of, embedding_of, LAYERS, Neighbours, readout_of
from .layers import cell_of, recurrent_arrays, weights_of
from .model import Layer, MODELS, models_of, snake_case
from .store import store_of


def networks(path: pathlib.Path) -> dict[str, Reading]:
    """Every network of a file by the name of its (first) layer."""
    store = store_of(path)
    found: dict[str, Reading] = {}
    kinds: set[str] = set()
    for layers in _plainly(models_of, store):
        kinds |= {layer.kind for layer in layers if layer.kind}
        neighbours = Neighbours(layers)
        mine = [layer for layer in layers if layer.kind not in MODELS]
        mine = [layer for layer in mine if recurrent_arrays(layer.weights)]
        for chain in chains_of(mine, neighbours):
            readings = _readings(chain, neighbours, store.version)
            found |= {name: partial(_plainly, read) for name, read in readings.items()}
    if not found:
        others = f", only {', '.join(sorted(kinds)[:8])}" if kinds else ""
        raise ValueError(
            f"{path.name} holds no LSTM, GRU or SimpleRNN{others}; a file with one would do"
        )
    return found


def _plainly(function: Callable[[Any], Any], value: Any) -> Any:
    """The function's value; a configuration of another form than Keras's is refused."""
    try:
        return function(value)
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        why = f"{type(error).__name__} {error}".partition("\n")[0]
        raise ValueError(f"the file's configuration is malformed: {why}") from None


def _readings(
    chain: list[Layer], neighbours: Neighbours, version: tuple[int, ...]
) -> dict[str, Reading]:
    """The networks of one chain: one, or one a direction and part where it is not plain."""
    first = chain[0]
    title = f"{first.path}{first.name}"
    if first.kind in LAYERS:
        return {title: _reading(chain, None, neighbours, version, "")}
    places = recurrent_arrays(first.weights)
    found: dict[str, Reading] = {}
    for place in places:
        ways = [part.partition("_")[0] for part in place.split("/")]
        way = next((w for w in ways if w in ("forward", "backward")), "")
        name = f"{title}.{way}" if way else title
        if name in found:  # several cells inside a layer of somebody's own
            name = f"{name}/{place}"
        found[name] = _reading(chain, place, neighbours, version, way)
    return found


def _reading(
    chain: list[Layer],
    place: str | None,
    neighbours: Neighbours,
    version: tuple[int, ...],
    way: str,
) -> Reading:
    first, last = chain[0], chain[-1]

    def read(options: Options) -> tuple[Recurrent, Taken]:
        remarks: dict[str, str] = {}
        cells, kinds = [], []
        for layer in chain:
            arrays = recurrent_arrays(layer.weights)
            arrays = {place: arrays[place]} if place in arrays else arrays
            inside = _inside(layer, way)
            for key, settings in zip(_ordered(layer, arrays, inside), inside, strict=True):
                weights = weights_of(f"{layer.name}/{key}".rstrip("/"), *arrays[key])
                if not settings:
                    word = options.activation or "tanh"
                    settings = {"activation": word} if weights.kind == "RNN" else {}
                    whose = "CuDNN" if weights.cudnn else f"Keras {version[0]}.{version[1]}"
                    remarks["activations"] = f"{whose}'s default activations"
                cells.append(cell_of(weights, settings, version))
                kinds.append(weights.kind)
        if way or first.settings.get("go_backwards"):
            remarks["direction"] = f"{way or 'backward'} direction"
        if any(
            layer.kind == "Masking" or layer.settings.get("mask_zero")
            for layer in neighbours.named.values()
        ):
            remarks["mask"] = "masks not applied"
        readout: Readout | str = "a readout takes both directions"
        if not way:
            readout = readout_of(last, neighbours)
        every = last.settings.get("return_sequences", True)
        parts = Parts(
            kind=kinds[0],
            name=f"{first.path}{first.name}",
            cells=cells,
            embedding=embedding_of(first, neighbours),
            readout=readout,
            positions="every" if every or way else "last",
            remarks=remarks,
        )
        return assemble(parts, options)

    return read


def _inside(layer: Layer, way: str) -> list[dict[str, Any]]:
    """The configuration of each cell of a layer; {} where there is none."""
    settings = layer.settings
    if layer.kind == "Bidirectional":
        inner = settings.get("layer", {})
        if way == "backward":
            inner = settings.get("backward_layer") or inner
        settings = inner.get("config", {})
    elif layer.kind not in LAYERS:
        return [{}]
    if "cell" not in settings:
        return [settings]
    cell = settings["cell"]
    cells = cell.get("config", {}).get("cells") or [cell]
    return [each["config"] | {"class_name": each["class_name"]} for each in cells]


def _ordered(layer: Layer, arrays: dict[str, Any], inside: list[dict[str, Any]]) -> list[str]:
    """The places of a layer's cells in the order of the configuration."""
    if len(arrays) == len(inside) == 1:
        return list(arrays)
    counts: dict[str, int] = {}
    places = []
    for settings in inside:
        stem = snake_case(str(settings.get("class_name", "")))
        number = counts[stem] = counts.get(stem, -1) + 1
        names = {f"{stem}_{number}" if number else stem, settings.get("name")}
        fits = [place for place in arrays if names & {*place.split("/")}]
        if len(fits) != 1:
            raise ValueError(
                f"{layer.name} holds {len(arrays)} cells, and its configuration has "
                f"{len(inside)}; cells that go by their names would do"
            )
        places += fits
    return places
