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
from ..reading import assemble, BOTH, Options, Parts, Reading, Taken
from .chains import chains_of, embedding_of, LAYERS, Neighbours, readout_of
from .layers import cell_of, recurrent_arrays, weights_of
from .model import Layer, MODELS, models_of
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
        return {title: _reading(chain, "", neighbours, version, "")}
    found: dict[str, Reading] = {}
    for place in recurrent_arrays(first.weights):
        ways = [part.partition("_")[0] for part in place.split("/")]
        way = next((w for w in ways if w in ("forward", "backward")), "")
        name = f"{title}.{way}" if way else title
        if name in found:  # several cells inside a layer of somebody's own
            name = f"{name}/{place}"
        found[name] = _reading(chain, place, neighbours, version, way)
    return found


def _reading(
    chain: list[Layer], place: str, neighbours: Neighbours, version: tuple[int, ...], way: str
) -> Reading:
    first, last = chain[0], chain[-1]

    def read(options: Options) -> tuple[Recurrent, Taken]:
        remarks: dict[str, str] = {}
        cells, kinds = [], []
        for layer in chain:
            arrays, settings = recurrent_arrays(layer.weights), _settings(layer, way)
            at = place or next(iter(arrays))
            weights = weights_of(f"{layer.name}/{at}".rstrip("/"), *arrays[at])
            if not settings:
                word = options.activation or "tanh"
                settings = {"activation": word} if weights.kind == "RNN" else {}
                whose = "CuDNN" if weights.cudnn else f"Keras {version[0]}.{version[1]}"
                remarks["activations"] = f"{whose}'s default activations"
            cells.append(cell_of(weights, settings, version))
            kinds.append(weights.kind)
        if way or first.settings.get("go_backwards"):
            remarks["direction"] = f"{way or 'backward'} direction"
        others = neighbours.named.values()
        if any(each.kind == "Masking" or each.settings.get("mask_zero") for each in others):
            remarks["mask"] = "masks not applied"
        every = last.settings.get("return_sequences", True)
        parts = Parts(
            kind=kinds[0],
            name=f"{first.path}{first.name}",
            cells=cells,
            embedding=embedding_of(first, neighbours),
            readout=BOTH if way else readout_of(last, neighbours),
            positions="every" if every or way else "last",
            remarks=remarks,
        )
        return assemble(parts, options)

    return read


def _settings(layer: Layer, way: str) -> dict[str, Any]:
    """The configuration of a layer's cell; {} where there is none."""
    settings = layer.settings
    if layer.kind == "Bidirectional":
        inner = settings.get("layer", {})
        if way == "backward":
            inner = settings.get("backward_layer") or inner
        settings = inner.get("config", {})
    elif layer.kind not in LAYERS:
        return {}
    inside = settings.get("cell", {}).get("config", settings)
    if "cells" in inside:
        raise ValueError(f"{layer.name} stacks several cells; layers of their own would do")
    return inside
