"""What drives a network: an array, a file of numbers, a text, or white noise, and its name."""

import dataclasses
import pathlib
from typing import Any

import numpy as np

from ..cells import input_size
from ..nets import Recurrent
from .memory import refuse_too_large


LARGEST = 2_000_000_000  # bytes of a file that is read
STEPS = 1000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inputs:
    """Inputs with the words that a headline has for them."""

    values: np.ndarray
    words: str  # stands after "on": "1,000 of 1,100,000 characters of corpus.txt"
    unit: str = "steps"  # what one step is: steps, tokens, bytes or characters
    white_noise: bool = False
    partial: bool = False  # whether the file holds more, which was left out without being asked to


def as_inputs(inputs: Any, lengths: Any = None) -> Inputs:
    """Inputs as they are, or an array described by its shape."""
    if isinstance(inputs, Inputs):
        return inputs
    values = np.asarray(inputs)
    words = f"{words_for(values, lengths)} as given"
    return Inputs(values=values, words=words, unit=unit_and_axis(values)[0])


def unit_and_axis(values: np.ndarray) -> tuple[str, int]:
    """What one step of an array is, and along which axis steps follow each other."""
    tokens = np.issubdtype(values.dtype, np.integer)
    return "tokens" if tokens else "steps", int(values.ndim == (2 if tokens else 3))


def words_for(values: np.ndarray, lengths: Any = None) -> str:
    """How many steps or tokens, and in how many sequences."""
    unit, many = unit_and_axis(values)
    if not many:
        return f"{len(values) if values.ndim else 0:,} {unit}"
    count = f"{values.shape[1]:,}"
    if lengths is not None and len(lengths):
        count = f"{min(lengths):,} to {max(lengths):,}"
    return f"{len(values):,} sequences of {count} {unit}"


def from_npy(path: pathlib.Path, steps: int | None = None, lengths: Any = None) -> Inputs:
    """An array of numbers from a `.npy` file, all of it or its first `steps`."""
    values = read_npy(path)
    unit, axis = unit_and_axis(values)
    words = f"{words_for(values, lengths)} from {path.name}"
    if steps is not None and values.ndim and steps < values.shape[axis]:
        if lengths is not None:
            raise ValueError("give --steps or --lengths, not both")
        values = values[:, :steps] if axis else values[:steps]
        words = f"the first {steps:,} of {words}"
    # Copied, since a mapped file that is cut while it is used ends the process.
    return Inputs(values=np.array(values), words=words, unit=unit)


def read_npy(path: pathlib.Path) -> np.ndarray:
    """The array in a `.npy` file, mapped, not read; pickled objects are refused."""
    if path.suffix != ".npy":
        raise ValueError(f"numbers are read from a .npy file, got {path.name!r}")
    refuse_no_file(path)
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except Exception as problem:  # whatever Python's own parser raises, over many lines
        why = " ".join(str(problem).split())[:200]
        raise ValueError(f"{path.name} is not an array of numbers: {why}") from None
    if not (np.issubdtype(array.dtype, np.number) and not np.iscomplexobj(array)):
        raise ValueError(f"{path.name} holds {array.dtype}, numbers would do")
    return array


def refuse_no_file(path: pathlib.Path) -> None:
    """Refuse what is not a file of a size that is read."""
    if not path.is_file():  # a folder, a pipe, a device without end
        raise ValueError(f"{path} is not a file")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path.name} is larger than {LARGEST // 10**9} GB")


def white_noise(net: Recurrent, steps: int = STEPS, seed: int = 0) -> Inputs:
    """Independent inputs: unit Gaussian numbers, or tokens all alike."""
    rng, table = np.random.default_rng(seed), net.embedding
    width = input_size(net.cell) if table is None else table.shape[1]
    if width is None:
        raise ValueError("this cell does not say how many inputs it takes; give --inputs")
    refuse_too_large(net, (1, steps, width))
    if table is None:
        unit, drawn = "steps", rng.normal(size=(steps, width))
    else:
        unit, drawn = "tokens", rng.integers(0, len(table), steps, dtype=np.int32)
    words = f"white noise ({steps:,} {'random ' if unit == 'tokens' else ''}{unit}, seed {seed})"
    return Inputs(values=drawn, words=words, unit=unit, white_noise=True)


def refuse_other_axes(net: Recurrent, values: np.ndarray) -> None:
    """Refuse inputs whose axes are not time x width, and say which order would do."""
    width, shape = input_size(net.cell), values.shape
    words, tokens = " x ".join(map(str, shape)), np.issubdtype(values.dtype, np.integer)
    if tokens and net.embedding is None and values.ndim > 1:
        raise ValueError(
            f"whole numbers of shape {words} came, which are tokens, and this network "
            "has no embedding; inputs.astype(float) would do"
        )
    if tokens or width is None or values.ndim not in (1, 2, 3):
        return
    if values.ndim == 1 and width == 1:
        raise ValueError(f"inputs of shape {words} came; inputs[:, None] would do")
    if shape[-1] != width and width in shape:
        raise ValueError(
            f"the network takes {width} numbers a step, and inputs of shape {words} came; with the "
            f"width last they would do: np.moveaxis(inputs, {shape.index(width)}, -1)"
        )
