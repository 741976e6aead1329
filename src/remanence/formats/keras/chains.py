"""Which layers of a Keras model make one network: what stands before and behind it."""

from typing import Any

import numpy as np

from ..reading import Readout
from .model import Layer


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
    every = bool(layer.settings.get("return_sequences"))
    remark = f"its {left} left out" if left else ""
    return Readout(above.name, kernel.T, bias, "every" if every else "last", remark)


def _array(layer: Layer, old: str, new: str) -> Any:
    """An array of a layer by its name in old files or its number in new ones."""
    for place, values in layer.weights.items():
        parts = place.removesuffix(":0").split("/")
        if parts[-1] == old or parts[-2:] == ["vars", new]:
            return values
    return None
