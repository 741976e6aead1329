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

import numpy as np

from ...nets import Recurrent
from ..reading import assemble, BOTH, Options, Reading, Readout, Taken
from .layers import cell_of, recurrent_arrays
from .store import Layer, MODELS, models_of, store_of


FREE = (
    *("Dropout", "SpatialDropout1D", "GaussianNoise", "GaussianDropout", "AlphaDropout"),
    *("ActivityRegularization", "Masking"),
)
"""Layers that do nothing to what a trained network computes; masks are reported apart."""
LAYERS = ("LSTM", "GRU", "SimpleRNN", "CuDNNLSTM", "CuDNNGRU", "RNN")
SCORES = ("softmax", "sigmoid")


class Neighbours:
    """Which layer of a model feeds which; layers of unknown neighbours have none."""

    def __init__(self, layers: list[Layer]):
        self.named = {layer.name: layer for layer in layers}
        self.users: dict[str, list[Layer]] = {}
        for layer in layers:
            for name in layer.before or ():
                self.users.setdefault(name, []).append(layer)

    def below(self, layer: Layer) -> Layer | None:
        """The one layer that feeds this one, past those that do nothing."""
        for _ in self.named:
            if layer.before is None or len(layer.before) != 1 or layer.before[0] not in self.named:
                return None
            layer = self.named[layer.before[0]]
            if layer.kind not in FREE:
                return layer
        return None

    def above(self, layer: Layer) -> Layer | str:
        """The one layer that this one feeds, past those that do nothing; or a sentence."""
        for _ in self.named:
            users = self.users.get(layer.name, [])
            if len(users) != 1:
                return "its outputs go to several layers" if users else ""
            layer = users[0]
            if layer.kind not in FREE:
                return layer
        return ""


def chains_of(layers: list[Layer], neighbours: Neighbours) -> list[list[Layer]]:
    """Recurrent layers that feed each other directly, the lowest first."""
    chains: list[list[Layer]] = []
    for layer in layers:
        below = neighbours.below(layer) if layer.kind in LAYERS else None
        onto = [c for c in chains if c[-1] is below and c[-1].kind in LAYERS]
        forward = below is not None and below.settings.get("return_sequences")
        turned = any(each and each.settings.get("go_backwards") for each in (below, layer))
        if onto and forward and not turned:
            onto[0].append(layer)
        else:
            chains.append([layer])
    return chains


def embedding_of(layer: Layer, neighbours: Neighbours) -> tuple[str, np.ndarray] | None:
    """The embedding that feeds a layer directly."""
    below = neighbours.below(layer)
    if below is None or below.kind != "Embedding":
        return None
    rows = _array(below, "embeddings", "0")
    return None if rows is None else (below.name, rows)


def readout_of(layer: Layer, neighbours: Neighbours) -> Readout | str:
    """The dense layer behind a layer, if nothing but scores follows; or why there is none."""
    if layer.before is None:
        return "a file of weights alone does not contain what follows"
    above = neighbours.above(layer)
    if isinstance(above, str):
        return above or "nothing reads its outputs"
    settings = above.settings
    if above.kind == "TimeDistributed":
        inner = settings.get("layer", {})
        settings = inner.get("config", {}) if inner.get("class_name") == "Dense" else {}
    if above.kind not in ("Dense", "TimeDistributed") or not settings:
        return f"{above.kind} {above.name} reads its outputs"
    kernel, bias = _array(above, "kernel", "0"), _array(above, "bias", "1")
    function = settings.get("activation")
    if kernel is None or function not in ("linear", None, *SCORES):
        return f"{above.name} is no affine map with {str(function)[:20]}"
    last, left = neighbours.above(above), function if function in SCORES else ""
    if isinstance(last, Layer) and last.kind in ("Activation", "Softmax") and not left:
        left = str(last.settings.get("activation", "softmax"))
        last = neighbours.above(last) if left in SCORES else last
    if last != "":
        return f"more than {above.name} stands between its outputs and the model's"
    remark = f"its {left} left out" if left else ""
    return Readout(above.name, kernel.T, bias, remark=remark)


def _array(layer: Layer, old: str, new: str) -> Any:
    """An array of a layer by its name in old files or its number in new ones."""
    for place, values in layer.weights.items():
        parts = place.removesuffix(":0").split("/")
        if parts[-1] == old or parts[-2:] == ["vars", new]:
            return values
    return None


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
            parts, settings = recurrent_arrays(layer.weights), _settings(layer, way)
            at = place or next(iter(parts))
            unknown = not settings
            if unknown and len({*parts[at][1].shape}) == 1:  # an RNN
                settings = {"activation": options.activation or "tanh"}
            title = f"{layer.name}/{at}".rstrip("/")
            kind, cudnn, cell = cell_of(title, parts[at], settings, version)
            if unknown:
                whose = "CuDNN" if cudnn else f"Keras {version[0]}.{version[1]}"
                remarks["activations"] = f"{whose}'s default activations"
            cells.append(cell)
            kinds.append(kind)
        if way or first.settings.get("go_backwards"):
            remarks["direction"] = f"{way or 'backward'} direction"
        others = neighbours.named.values()
        if any(each.kind == "Masking" or each.settings.get("mask_zero") for each in others):
            remarks["mask"] = "masks not applied"
        every = last.settings.get("return_sequences", True)
        positions = "every" if every or way else "last"
        taken = Taken(kinds[0], f"{first.path}{first.name}", positions=positions, remarks=remarks)
        readout = BOTH if way else readout_of(last, neighbours)
        return assemble(options, taken, cells, embedding_of(first, neighbours), readout)

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
