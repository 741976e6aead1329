"""Keras files, old and new: every LSTM, GRU and SimpleRNN, alone, stacked or both ways.

A file of weights alone contains neither the order of its layers nor the activations: each
layer is then a network with the defaults of its version of Keras.

Kernels are inputs × gates. A GRU's bias of shape (2, 3N) is that of `reset_after`, one of 3N
that of the reset before the product. CuDNN's layers keep both biases in one vector and each
gate's matrix as torch does: `kernel.reshape(N, inputs)` for the inputs, not transposed for
the state.
"""

import pathlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..layer_graph import chains, embedding_before, node_below, reading, readout_behind
from ..reading import BOTH, Options, Reading, Readout, refused_misfits
from ..recurrent_cell import kind_of, PLAIN, recurrent_cell, Shaped
from .store import Arrays, Layer, MODELS, models_of, recurrent_arrays, store_of


FREE = (
    *("Dropout", "SpatialDropout1D", "GaussianNoise", "GaussianDropout", "AlphaDropout"),
    *("ActivityRegularization", "Masking"),
)
"""Layers that do nothing to what a trained network computes; masks are reported apart."""
LAYERS = ("LSTM", "GRU", "SimpleRNN", "CuDNNLSTM", "CuDNNGRU", "RNN")
SCORES = ("softmax", "sigmoid")


Version = tuple[int, ...]


class Graph:
    """The layers of one model; a layer's value has its name."""

    def __init__(self, layers: list[Layer]):
        self.layers = {layer.name: layer for layer in layers}

    def maker(self, value: str) -> Any:
        return self.layers.get(value)

    def users(self, value: str) -> list[Any]:
        return [layer for layer in self.layers.values() for name in layer.input if name == value]

    def is_free(self, node: Any) -> bool:
        return node.kind in FREE and len(node.input) == 1

    def is_output(self, value: str) -> bool:
        return not self.users(value)

    def takes_last(self, node: Any) -> bool:
        return False

    def table(self, node: Any) -> tuple[str, np.ndarray] | None:
        rows = _array(node, "embeddings", "0") if node.kind == "Embedding" else None
        return None if rows is None else (node.name, rows)

    def affine(self, node: Any, value: str) -> tuple[Readout, str] | str:
        settings = node.settings
        if node.kind == "TimeDistributed":
            inner = settings.get("layer", {})
            settings = inner.get("config", {}) if inner.get("class_name") == "Dense" else {}
        if node.kind not in ("Dense", "TimeDistributed") or not settings:
            return f"{node.kind} {node.name} reads its outputs"
        kernel, bias = _array(node, "kernel", "0"), _array(node, "bias", "1")
        function = settings.get("activation")
        if kernel is None or function not in ("linear", None, *SCORES):
            return f"{node.name} is no affine map with {str(function)[:20]}"
        left = function if function in SCORES else ""
        return Readout(node.name, kernel.T, bias, remark=left), node.name

    def score(self, node: Any) -> str:
        if node.kind not in ("Activation", "Softmax"):
            return ""
        function = str(node.settings.get("activation", "softmax"))
        return function if function in SCORES else ""


def _is_above(upper: Layer, lower: Layer, graph: Graph) -> bool:
    """Whether a layer takes another one's outputs directly, in the same direction."""
    if {upper.kind, lower.kind} - {*LAYERS} or len(upper.input) != 1:
        return False
    turned = any(each.settings.get("go_backwards") for each in (upper, lower))
    follows = node_below(graph, upper.input[0])[0] is lower
    return bool(follows and lower.settings.get("return_sequences") and not turned)


def _array(layer: Layer, old: str, new: str) -> Any:
    """An array of a layer by its name in old files or its number in new ones."""
    named = [(place.removesuffix(":0").split("/"), a) for place, a in layer.weights.items()]
    found = (a for parts, a in named if parts[-1] == old or parts[-2:] == ["vars", new])
    return next(found, None)


@refused_misfits("the file's configuration is malformed")
def networks(path: pathlib.Path) -> dict[str, Reading]:
    """Every network of a file by the name of its (first) layer."""
    store = store_of(path)
    found: dict[str, Reading] = {}
    kinds: set[str] = set()
    for layers in models_of(store):
        kinds |= {layer.kind for layer in layers if layer.kind}
        graph, inner = Graph(layers), [layer for layer in layers if layer.kind not in MODELS]
        mine = [layer for layer in inner if recurrent_arrays(layer.weights)]
        for chain in chains(mine, partial(_is_above, graph=graph)):
            found |= _readings(chain, graph, store.version)
    if not found:
        others = f", only {', '.join(sorted(kinds)[:8])}" if kinds else ""
        none = f"{path.name} holds no LSTM, GRU or SimpleRNN{others}"
        raise ValueError(f"{none}; a file with one would do")
    return found


def _readings(chain: list[Layer], graph: Graph, version: Version) -> dict[str, Reading]:
    """The networks of one chain: one, or one a direction and part where it is not plain."""
    first = chain[0]
    title = f"{first.path}{first.name}"
    if first.kind in LAYERS:
        way = "backward" if first.settings.get("go_backwards") else ""
        return {title: _reading(chain, "", graph, version, way)}
    found: dict[str, Reading] = {}
    for place in recurrent_arrays(first.weights):
        ways = [part.partition("_")[0] for part in place.split("/")]
        way = next((w for w in ways if w in ("forward", "backward")), "")
        name = f"{title}.{way}" if way else title
        # There may be several cells inside a layer of somebody's own.
        name = f"{name}/{place}" if name in found else name
        found[name] = _reading(chain, place, graph, version, way)
    return found


def _reading(chain: list[Layer], place: str, graph: Graph, version: Version, way: str) -> Reading:
    first, last, both = chain[0], chain[-1], bool(way and place)
    every = both or last.settings.get("return_sequences", True)
    positions = "every" if every else "last"

    def cells(options: Options, remarks: dict[str, str]) -> tuple[str, list[Any]]:
        found = []
        for layer in chain:
            parts, stated = recurrent_arrays(layer.weights), _settings(layer, way)
            at = place or next(iter(parts))
            is_rnn = len({*parts[at][1].shape}) == 1
            default = {"activation": options.activation or "tanh"} if is_rnn else {}
            title = f"{layer.name}/{at}".rstrip("/")
            kind, cudnn, cell = cell_of(title, parts[at], stated or default, version)
            if not stated:
                whose = "CuDNN" if cudnn else f"Keras {version[0]}.{version[1]}"
                remarks["activations"] = f"{whose}'s default activations"
            found.append((kind, cell))
        layers = graph.layers.values()
        if any(each.kind == "Masking" or each.settings.get("mask_zero") for each in layers):
            remarks["mask"] = "masks not applied"
        return found[0][0], [cell for _, cell in found]

    def ends() -> tuple[Any, Readout | str]:
        embedding = embedding_before(graph, first.input[0]) if len(first.input) == 1 else None
        if both or not last.kind:
            return embedding, BOTH if both else "a file of weights alone says nothing of others"
        return embedding, readout_behind(graph, [(last.name, positions)])

    return reading(f"{first.path}{first.name}", way, cells, ends, positions)


def _settings(layer: Layer, way: str) -> dict[str, Any]:
    """The configuration of a layer's cell; {} where there is none."""
    settings = layer.settings
    if layer.kind == "Bidirectional":
        own = settings.get("backward_layer") if way == "backward" else None
        settings = (own or settings.get("layer", {})).get("config", {})
    elif layer.kind not in LAYERS:
        return {}
    inside = settings.get("cell", {}).get("config", settings)
    if "cells" in inside:
        raise ValueError(f"{layer.name} stacks several cells; layers of their own would do")
    return inside


def cell_of(
    title: str, arrays: Arrays, settings: dict[str, Any], version: Version
) -> tuple[str, bool, Any]:
    """The kind, whether it is CuDNN's, and the cell, by its settings (or its version's defaults)."""
    W_x, W_h, bias = (None if array is None else array.T for array in arrays)
    kind = kind_of(title, W_x, W_h)
    assert W_x is not None and W_h is not None
    gates, units = W_h.shape
    shape = None if bias is None else bias.shape
    cudnn = gates > units and shape == (2 * gates,)
    twice = cudnn or (kind == "GRU" and shape == (gates, 2))
    if bias is not None and cudnn:
        blocks = np.split(W_x, gates // units)
        W_x = np.concatenate([block.T.reshape(units, -1) for block in blocks])
        W_h = np.concatenate([block.T for block in np.split(W_h, gates // units)])
        bias = bias.reshape(2, gates).T
    b_x, b_h = bias.T if bias is not None and twice else (bias, None)
    outer = _function(settings.get("activation", "tanh"), version)
    usual = "sigmoid" if version >= (2, 3) or cudnn else "hard_sigmoid"
    gate = _function(settings.get("recurrent_activation", usual), version)
    functions = {"RNN": (outer,), "GRU": (gate, outer), "LSTM": (gate, outer, outer)}[kind]
    stated = settings.get("reset_after", twice if bias is not None else version >= (2, 3))
    if kind == "GRU" and bias is not None and not cudnn and bool(stated) != twice:
        raise ValueError(f"{title}'s bias does not go with its reset_after")
    options = {"order": "keras", "reset_after": bool(stated) or cudnn}
    return kind, cudnn, recurrent_cell(title, kind, W_x, W_h, b_x, b_h, functions, **options)


def _function(name: Any, version: Version) -> Callable:
    """An activation by its name; hard_sigmoid changed its slope with Keras 3."""
    known = PLAIN | {
        "hard_sigmoid": Shaped("hardsigmoid", 1 / 6 if version >= (3, 0) else 0.2, 0.5),
        "elu": Shaped("elu", 1.0),
        "leaky_relu": Shaped("leakyrelu", 0.2),
    }
    name = "linear" if name is None else name
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"the activation {name!a:.60} is not known; {', '.join(known)} are")
    return known[name]
