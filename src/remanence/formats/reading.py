"""One network of a file: what the caller specifies, what is taken, and how it is put together."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..cells import output, Stack
from ..nets import Recurrent
from .safetensors import finite, plain, real


BOTH = "a readout takes both directions"


def extra_library(name: str, extra: str) -> Any:
    """A library that is imported only when it is needed."""
    try:
        return import_module(name)
    except ImportError:
        raise ValueError(f"{name} is not installed; `pip install '.[{extra}]'` would do") from None


@contextlib.contextmanager
def refused_misfits(what: str) -> Iterator[None]:
    """A scope in which whatever a file of another form than expected leads to is one sentence."""
    try:
        yield
    except MISFITS as error:
        why = f"{type(error).__name__} {error}".partition("\n")[0]
        raise ValueError(f"{what}: {why:.200}") from None


MISFITS = (KeyError, TypeError, AttributeError, IndexError, RecursionError, ZeroDivisionError)


@dataclasses.dataclass(frozen=True)
class Options:
    """None where the file, or else the shapes in it, shall say."""

    activation: str | None = None
    embedding: str | None = None
    readout: str | None = None
    positions: Any = None
    live: bool = False
    """Whether what is read is run and compared with what it came from."""

    def __post_init__(self):
        for name, known in (("activation", ("tanh", "relu")), ("positions", ("every", "last"))):
            value = getattr(self, name)
            if value is not None and value not in known:
                words = " or ".join(repr(word) for word in known)
                raise ValueError(f"{name} must be {words}, got {value!r}")

    def filled_from(self, metadata: dict[str, Any]) -> "Options":
        """The same, with a file's metadata where the caller specifies nothing."""
        names = ("activation", "embedding", "readout", "positions")
        open_ = [name for name in names if getattr(self, name) is None]
        return dataclasses.replace(self, **{name: metadata.get(name) for name in open_})


@dataclasses.dataclass(frozen=True)
class Taken:
    """What of a file a network was made from; `str()` is one line."""

    kind: str
    name: str
    embedding: str = ""
    readout: str = ""
    positions: str = "every"
    remarks: dict[str, str] = dataclasses.field(default_factory=dict)
    """Why there is no "embedding" or "readout", and anything else worth a word."""
    unused: tuple[str, ...] = ()

    def __str__(self) -> str:
        ends = {"embedding": self.embedding or "none", "readout": self.readout or "none"}
        words = [f"{self.kind} {self.name or '(no name)'}"]
        words += [remark for what, remark in self.remarks.items() if what not in ends]
        why = {end: f" ({self.remarks[end]})" for end in ends if end in self.remarks}
        words += [f"{end} {name}{why.get(end, '')}" for end, name in ends.items()]
        words.append("read at every step" if self.positions == "every" else "read at the end")
        words += [f"not used: {', '.join(self.unused)}"] if self.unused else []
        return ", ".join(words)


class FullAttention(ValueError):
    """A whole model that has no state of fixed size; parts of it may have one."""


Reading = Callable[[Options], tuple[Recurrent, Taken]]
"""One network of a file, built when it is wanted."""


@dataclasses.dataclass(frozen=True)
class Readout:
    """An affine map directly behind the last layer, and the last thing of the model."""

    name: str
    W: np.ndarray
    b: np.ndarray | None
    positions: str = "every"
    remark: str = ""
    """What of the model behind it is left out."""


def assemble(
    options: Options,
    taken: Taken,
    cells: list[Any],
    embedding: tuple[str, np.ndarray] | None,
    readout: Readout | str,
) -> tuple[Recurrent, Taken]:
    """The network with the ends that the caller does not drop, and all that was taken for it.

    In place of a readout that is not there a sentence gives the reason, if there is one.
    """
    for end in ("embedding", "readout"):
        if getattr(options, end):
            raise ValueError(f"the {end} is the graph's own; {end}='' drops it")
    remarks, names = dict(taken.remarks), {"embedding": "", "readout": ""}
    W_y = b_y = W_e = None
    if isinstance(readout, str):
        remarks |= {"readout": readout} if readout else {}
    elif options.readout is None:
        names["readout"], units = readout.name, output(cells[-1], cells[-1].initial_state()).size
        W_y = _matrix("readout", readout.name, readout.W, units)
        b_y = None if readout.b is None else jnp.asarray(finite_array(readout.name, readout.b))
        if b_y is not None and b_y.shape != W_y.shape[:1]:
            raise ValueError(f"the bias of {readout.name} has shape {b_y.shape}")
        remarks |= {"scores": readout.remark} if readout.remark else {}
    if embedding is not None and options.embedding is None:
        names["embedding"], rows = embedding
        W_e = _matrix("embedding", names["embedding"], rows, cells[0].input_size)
    positions: Any = options.positions or taken.positions
    cell = cells[0] if len(cells) == 1 else Stack(tuple(cells))
    taken = dataclasses.replace(taken, **names, positions=positions, remarks=remarks)
    return Recurrent(cell, W_y, b_y, W_e, positions), taken


def finite_array(name: str, values: np.ndarray) -> np.ndarray:
    """Real and finite numbers, half precisions widened."""
    return finite({name: real(name, plain(np.asarray(values)))})[name]


def _matrix(what: str, name: str, values: np.ndarray, size: int) -> Any:
    if values.ndim != 2 or values.shape[1] != size or not len(values):
        raise ValueError(f"the {what} {name} is {values.shape}; some rows of {size} would do")
    return jnp.asarray(finite_array(name, values))
