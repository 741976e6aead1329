"""What drives a network: an array, a file of numbers or white noise, and the memory that it takes."""

import dataclasses
import pathlib
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .._cores import available_bytes
from .._precision import double
from ..cells import dimension, Elman, GRU, input_size, Linear, LSTM, Stack
from ..nets import Recurrent


LARGEST = 2_000_000_000  # bytes of a file that is read
STEPS = 1000
WIDE = 1024  # inputs below which nothing is saved
CHUNK = 2**24  # numbers converted at once
PROGRAMS = 500_000_000  # bytes of the interpreter, JAX and compiled programs
GATHERED = 48 * 257  # inputs kept for the gradients, from that many places and lags


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


def refuse_too_large(net: Any, shape: tuple[int, int, int], k: int | None = None) -> None:
    """Refuse inputs of `sequences x time x width` whose checkup cannot fit."""
    needed, free = estimated_bytes(net, shape, k), available_bytes()
    if free is not None and needed > free:
        extent = " x ".join(f"{n:,}" for n in shape)
        raise ValueError(
            f"a checkup of inputs of shape {extent} takes about {needed / 1e9:,.1f} GB, and "
            f"{free / 1e9:,.1f} GB are free; fewer steps (--steps) would do"
        )


def extent(net: Any, values: np.ndarray) -> tuple[int, int, int]:
    """The sequences, steps and numbers a step of inputs or tokens."""
    table = net.embedding if np.issubdtype(values.dtype, np.integer) else None
    shape = (1, 1, 1, *values.shape, *(() if table is None else table.shape[1:]))
    return shape[-3], shape[-2], shape[-1]


def estimated_bytes(net: Any, shape: tuple[int, int, int], k: int | None = None) -> int:
    """The largest arrays of a checkup in double precision, as many copies as were seen."""
    sequences, time, width = shape
    size = dimension(net.cell)
    outputs = eqx.filter_eval_shape(net.read, net.cell.initial_state()).size
    acting = acting_inputs(net, width)
    steps = sequences * time * (width + 6 * acting + 6 * size + 5 * outputs)
    frames = 3 * sequences * size * (size if k is None else k) + 8 * size * size
    return PROGRAMS + 8 * (steps + frames + GATHERED * acting)


def acting_inputs(net: Recurrent, width: int) -> int:
    """How many numbers a step are measured on: the inputs, or the combinations that act."""
    first: Any = net.cell.cells[0] if isinstance(net.cell, Stack) else net.cell
    if type(first) not in (Elman, GRU, Linear, LSTM):
        return width
    rows = first.W_x.shape[0]
    return rows if width >= max(WIDE, 2 * rows) else width


def in_acting_inputs(net: Recurrent, values: np.ndarray) -> tuple[Recurrent, np.ndarray, str]:
    r"""The network on the combinations of its inputs that act, and a sentence about it.

    Four units are moved by four combinations of 200,000 inputs: $W_x x = R^\top (Q^\top x)$ with
    $W_x^\top = Q R$, where orthonormal columns of $Q$ leave what is measured as it is.
    """
    width = input_size(net.cell) or 0
    rows, stacked = acting_inputs(net, width), isinstance(net.cell, Stack)
    tokens = np.issubdtype(values.dtype, np.integer)
    if rows == width or not (tokens or values.shape[-1:] == (width,)):
        return net, values, ""
    where = (lambda n: n.cell.cells[0].W_x) if stacked else (lambda n: n.cell.W_x)
    Q, R = np.linalg.qr(np.asarray(where(net), np.float64).T)
    with double():
        net = eqx.tree_at(where, net, jnp.asarray(R.T))
        if net.embedding is not None:
            net = eqx.tree_at(lambda n: n.embedding, net, jnp.asarray(_product(net.embedding, Q)))
    if not tokens:
        values = _product(values, Q)
    sentence = (
        f"The {width:,} inputs act through {rows} combinations of them, which were measured; "
        "bounds on |x| are bounds on these."
    )
    return net, values, sentence


def _product(values: Any, Q: np.ndarray) -> np.ndarray:
    """`values @ Q` in double, some rows at a time."""
    rows = np.asarray(values).reshape(-1, Q.shape[0])
    step = max(1, CHUNK // Q.shape[0])
    parts = [rows[i : i + step].astype(np.float64) @ Q for i in range(0, len(rows), step)]
    return np.concatenate(parts).reshape(*np.shape(values)[:-1], Q.shape[1])
