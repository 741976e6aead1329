"""A network put together from a graph: its layers, embedding and readout."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..cells import output, Stack
from ..nets import Recurrent
from .reading import Options, Taken
from .safetensors import finite, plain, real


@dataclasses.dataclass(frozen=True)
class Readout:
    """An affine map directly behind the last layer, and the last thing of the model."""

    name: str
    W: np.ndarray
    b: np.ndarray | None
    positions: str
    remark: str = ""
    """What of the model behind it is left out."""


@dataclasses.dataclass(frozen=True)
class Parts:
    """A network in parts; where there is no readout, a sentence gives the reason."""

    kind: str
    name: str
    cells: list[Any]
    embedding: tuple[str, np.ndarray] | None
    readout: Readout | str
    positions: str = "every"
    remarks: dict[str, str] = dataclasses.field(default_factory=dict)


def assembled(parts: Parts, options: Options) -> tuple[Recurrent, Taken]:
    """The network, with the ends that the caller does not drop."""
    for end in ("embedding", "readout"):
        if getattr(options, end):
            raise ValueError(f"the {end} is the graph's own; {end}='' drops it")
    remarks = dict(parts.remarks)
    W_y = b_y = W_e = None
    readout = parts.readout
    if isinstance(readout, str):
        remarks["readout"] = readout
    elif options.readout is None:
        units = output(parts.cells[-1], parts.cells[-1].initial_state()).size
        W_y = _matrix("readout", readout.name, readout.W, units)
        if readout.b is not None:
            if readout.b.shape != W_y.shape[:1]:
                raise ValueError(f"the bias of {readout.name} has shape {readout.b.shape}")
            b_y = _array(readout.name, readout.b)
        remarks |= {"scores": readout.remark} if readout.remark else {}
    if parts.embedding is not None and options.embedding is None:
        W_e = _matrix("embedding", *parts.embedding, parts.cells[0].input_size)
    positions: Any = options.positions or parts.positions
    cell = parts.cells[0] if len(parts.cells) == 1 else Stack(tuple(parts.cells))
    return Recurrent(cell, W_y, b_y, W_e, positions), Taken(
        kind=parts.kind,
        name=parts.name,
        embedding=parts.embedding[0] if parts.embedding and W_e is not None else "",
        readout="" if isinstance(readout, str) or W_y is None else readout.name,
        positions=positions,
        remarks=remarks,
    )


def _array(name: str, values: np.ndarray) -> Any:
    return jnp.asarray(finite({name: real(name, plain(np.asarray(values)))})[name])


def _matrix(what: str, name: str, values: np.ndarray, size: int) -> Any:
    if values.ndim != 2 or values.shape[1] != size or not len(values):
        raise ValueError(f"the {what} {name} is {values.shape}; some rows of {size} would do")
    return _array(name, values)
