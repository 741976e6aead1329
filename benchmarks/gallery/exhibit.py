"""One network as it is shown, and what every exhibit needs: texts, heads, other forward passes."""

import dataclasses
import functools
import importlib.resources
import os
import pathlib
from collections.abc import Callable
from typing import Any

import equinox as eqx
import h5py
import numpy as np
import onnx
import onnxruntime

from remanence.nets import Recurrent


SONNETS = (importlib.resources.files("remanence.tasks") / "sonnets.txt").read_text()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One network: what it is, what it was given, what its package gives for that."""

    net: Recurrent
    does: str
    file: str
    inputs: np.ndarray
    words: str
    outputs: str
    """What the network's outputs are here, which windows are held to."""
    own: np.ndarray
    """The outputs of the package's own forward pass, or of its framework's layer."""
    peer: str
    unit: str = "characters"
    step: float = 1.0
    """How many of the unit one step is."""

    @functools.cached_property
    def ours(self) -> np.ndarray:
        """The outputs of the network as it was read."""
        call = eqx.filter_jit(self.net)
        many = [call(x) for x in self.inputs] if self.own.ndim == 3 else call(self.inputs)
        return np.asarray(many)

    @property
    def difference(self) -> float:
        """The largest difference from the package's own outputs, where it gives any."""
        return float(np.nanmax(np.abs(self.ours - self.own)))

    @property
    def error(self) -> float:
        """About a hundredth of the outputs' scale, the root mean square of their norm."""
        return float(f"{0.01 * np.sqrt((self.ours**2).sum(axis=-1).mean()):.2g}")


def with_head(net: Recurrent, head: Callable) -> Recurrent:
    """The network with the layers that its model has behind it."""
    return dataclasses.replace(net, W_y=None, b_y=None, head=head)


def one_hot(places: list[int], width: int) -> np.ndarray:
    """A row for each place; of what is not known (-1), zeros."""
    return np.vstack([np.eye(width), np.zeros(width)]).astype(np.float32)[places]


def run_onnx(path: pathlib.Path, feeds: dict[str, Any], *wanted: str) -> list[Any]:
    """These values of the graph, inner ones too, as onnxruntime computes them."""
    model = onnx.load(path)
    outputs = {value.name for value in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in wanted if n not in outputs)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(wanted, feeds)


def onnx_arrays(path: pathlib.Path, *names: str) -> list[np.ndarray]:
    """Constants of the graph by their names."""
    found = {a.name: onnx.numpy_helper.to_array(a) for a in onnx.load(path).graph.initializer}
    return [found[name] for name in names]


def keras_arrays(path: pathlib.Path, *parts: str) -> list[np.ndarray]:
    """Kernel, recurrent kernel and bias of the layer whose path holds these parts."""
    found: dict[str, np.ndarray] = {}

    def visit(name: str, item: Any) -> None:
        here = all(part in name for part in parts) and "optimizer" not in name
        if here and isinstance(item, h5py.Dataset):
            found[name.rpartition("/")[2].removesuffix(":0")] = item[:]

    with h5py.File(path) as file:
        file.visititems(visit)
    return [found[name] for name in ("kernel", "recurrent_kernel", "bias")]


def keras_lstm(xs: np.ndarray, arrays: list[np.ndarray], *, hard: bool) -> np.ndarray:
    """Keras's own LSTM layer on one sequence or several; `hard` are the gates of Keras 2.0 to 2.2."""
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    gate = (lambda x: keras.ops.clip(0.2 * x + 0.5, 0, 1)) if hard else "sigmoid"
    units = arrays[1].shape[0]
    layer = keras.layers.LSTM(units, return_sequences=True, recurrent_activation=gate)
    many = xs if xs.ndim == 3 else xs[None]
    layer.build(many.shape)
    layer.set_weights(arrays)
    ys = keras.ops.convert_to_numpy(layer(np.asarray(many, np.float32)))
    return ys if xs.ndim == 3 else ys[0]
