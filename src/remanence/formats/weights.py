"""`load`, `recurrent_modules` and `save`: networks out of files and into one."""

import dataclasses
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from .._escape import printable
from .._natural_sort import natural_sort_key
from ..cells import input_size, output
from ..nets import Recurrent
from . import native, safetensors
from .ends import AmbiguousEnds
from .files import readings
from .reading import Options, Reading, Taken
from .torch import live_networks
from .torch_layers import kind_of, tensors_of


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
    >>> from remanence import cells
    >>> net = Recurrent.init(cells.LSTM.init(3, 5, key=jax.random.key(0)),
    ...                      outputs=2, key=jax.random.key(1))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> save(net, path)
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


def save(net: Any, path: str | os.PathLike, *, names: dict[str, str] | None = None) -> None:
    """Write a network (or a bare cell) so that `load`, and torch strictly, read it back.

    Without embedding and readout the names are those of the bare torch module;
    else they stand under `embedding.`, `rnn.` and `readout.`, or under what
    `names` gives instead, such as `names={"rnn": "lstm", "readout": "decoder"}`.
    """
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    if net.head is not None:
        raise ValueError("a head that is any function has no file format; W_y and b_y have one")
    called = {part: part for part in ("embedding", "rnn", "readout")} | (names or {})
    metadata: dict[str, Any] = {"positions": net.readout}
    bare = net.embedding is None and net.W_y is None and net.b_y is None
    kind = kind_of(net.cell)
    if kind is None:
        metadata["cell"], tensors = native.described(net.cell, "cell.")
        called = {part: part for part in called}
    else:
        if kind == "rnn":
            layers = getattr(net.cell, "cells", (net.cell,))
            tanh = layers[0].activation is jnp.tanh
            metadata["activation"] = "tanh" if tanh else "relu"
        tensors = tensors_of(net.cell, "" if bare else f"{called['rnn']}.")
    ends: tuple[tuple[str, str, Callable], ...] = (
        ("embedding", "weight", lambda: net.embedding),
        ("readout", "weight", lambda: net.W_y),
        ("readout", "bias", lambda: net.b_y),
    )
    for part, word, value in ends:
        if (array := value()) is not None:
            tensors[f"{called[part]}.{word}"] = np.asarray(array)
            if kind is not None and word == "weight":
                metadata[part] = f"{called[part]}.weight"
    safetensors.finite(tensors)
    words = json.dumps(metadata, sort_keys=True)
    safetensors.write(path, tensors, {"remanence": words})
