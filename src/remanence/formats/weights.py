"""`load` and `save`: any network of ours, any state dict of torch's, in one file."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..cells import output
from ..nets import Recurrent
from . import layouts, native, safetensors, state_dict


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
    """The network in a safetensors file with the names of `torch.nn` RNN, LSTM or GRU.

    The kind and the sizes follow from the shapes. What a state dict does not say is
    given by keyword or by the file's metadata: `activation` ("tanh" or "relu", for
    an RNN; tanh unless said), which matrices are `embedding` and `readout` (found
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
        activation=activation,
        prefix=prefix,
        embedding=embedding,
        readout=readout,
        positions=positions,
    )
    if taken and not quiet:
        sys.stderr.write(f"loaded: {taken}\n")
    return net


def load_and_tell(
    path: str | os.PathLike,
    *,
    layout: str = "torch",
    activation: str | None = None,
    prefix: str | None = None,
    embedding: str | None = None,
    readout: str | None = None,
    positions: str | None = None,
) -> tuple[Recurrent, str]:
    """As `load`, with what was taken in words; a file of ours says it all itself: ""."""
    tensors, metadata = safetensors.read(path)
    safetensors.finite(tensors)
    ours = _metadata(metadata)
    positions = positions or ours.get("positions", "every")
    if positions not in ("every", "last"):
        raise ValueError(f"positions must be 'every' or 'last', got {positions!r}")
    if "cell" in ours:
        return _native(ours["cell"], tensors, positions), ""
    tensors = layouts.as_torch(tensors, layout)
    word = activation or ours.get("activation", "tanh")
    if word not in state_dict.ACTIVATIONS:
        raise ValueError(f"activation must be 'tanh' or 'relu', got {word!r}")
    net, names = state_dict.network(
        tensors,
        activation=state_dict.ACTIVATIONS[word],
        prefix=prefix,
        positions=positions,
        embedding=ours.get("embedding") if embedding is None else embedding,
        readout=ours.get("readout") if readout is None else readout,
    )
    return net, _taken(net, names, word, positions)


def _taken(
    net: Recurrent, names: dict[str, str], activation: str, positions: str
) -> str:
    kind = state_dict.kind_of(net.cell) or type(net.cell).__name__
    parts = [f"{kind.upper()} {names['rnn'] or '(no prefix)'}"]
    if kind == "rnn":
        parts.append(f"activation {activation}")
    for part in ("embedding", "readout"):
        remark = f" ({names[f'no {part}']})" if f"no {part}" in names else ""
        parts.append(f"{part} {names[part] or 'none'}{remark}")
    parts.append(
        f"read at {positions} step" if positions == "every" else "read at the end"
    )
    if "unused" in names:
        parts.append(f"not used: {names['unused']}")
    return ", ".join(parts)


def _metadata(metadata: dict[str, str]) -> dict[str, Any]:
    """What the file says of itself under our name; refused if it is not a JSON object."""
    try:
        said = json.loads(metadata.get("remanence", "{}"))
    except (ValueError, RecursionError):  # also of numbers with thousands of digits
        raise ValueError("the file's remanence metadata is not JSON") from None
    if not isinstance(said, dict):
        raise ValueError("the file's remanence metadata is not a JSON object")
    wrong = [k for k, v in said.items() if k != "cell" and not isinstance(v, str)]
    if wrong:
        raise ValueError(f"the file's remanence metadata is not text at {wrong[0]!r}")
    return said


def _native(structure: Any, tensors: safetensors.Tensors, positions: Any) -> Recurrent:
    cell = native.rebuilt(structure, tensors, "cell.")
    part = lambda name: jnp.asarray(tensors[name]) if name in tensors else None
    W_y, b_y, W_e = (
        part(name) for name in ("readout.weight", "readout.bias", "embedding.weight")
    )
    native.refuse_misfits(Recurrent, {"W_y": W_y, "b_y": b_y, "embedding": W_e})
    units = jax.eval_shape(lambda: output(cell, cell.initial_state())).size
    for name, end, size in (
        ("readout", W_y, units),
        ("embedding", W_e, cell.input_size),
    ):
        if end is not None and (end.shape[1] != size or not len(end)):
            raise ValueError(
                f"the file's {name} is {list(end.shape)}; some rows of {size} would do"
            )
    return Recurrent(cell, W_y, b_y, W_e, positions)


def save(
    net: Any,
    path: str | os.PathLike,
    *,
    names: dict[str, str] | None = None,
) -> None:
    """Write a network (or a bare cell) so that `load`, and torch strictly, read it back.

    Without embedding and readout the names are those of the bare torch module;
    else they stand under `embedding.`, `rnn.` and `readout.`, or under what
    `names` says instead, such as `names={"rnn": "lstm", "readout": "decoder"}`.
    """
    net = net if isinstance(net, Recurrent) else Recurrent(net)
    if net.head is not None:
        raise ValueError(
            "a head that is any function has no file format; W_y and b_y have one"
        )
    called = {part: part for part in ("embedding", "rnn", "readout")} | (names or {})
    metadata: dict[str, Any] = {"positions": net.readout}
    bare = net.embedding is None and net.W_y is None and net.b_y is None
    kind = state_dict.kind_of(net.cell)
    if kind is None:
        metadata["cell"], tensors = native.described(net.cell, "cell.")
        called = {part: part for part in called}
    else:
        if kind == "rnn":
            layers = getattr(net.cell, "cells", (net.cell,))
            tanh = layers[0].activation is jnp.tanh
            metadata["activation"] = "tanh" if tanh else "relu"
        tensors = state_dict.tensors_of(net.cell, "" if bare else f"{called['rnn']}.")
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
    said = json.dumps(metadata, sort_keys=True)
    safetensors.write(path, tensors, {"remanence": said})
