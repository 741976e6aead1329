"""What a network is made to hear: a file of numbers, a text, or noise."""

import math
import pathlib
from typing import BinaryIO

import numpy as np

from ..cells import input_size
from ..nets import Recurrent


LARGEST = 2_000_000_000  # bytes of a file that is read
STEPS = 1000
MOST_BYTES = 512  # tokens of a network of bytes, with marks such as <pad> and <end>


def from_npy(path: pathlib.Path) -> tuple[np.ndarray, str]:
    """An array of numbers from a `.npy` file; pickled objects are refused."""
    if path.suffix != ".npy":
        raise ValueError(f"numbers are read from a .npy file, got {path.name!r}")
    _refuse_odd(path)
    try:
        with path.open("rb") as file:
            promised = _promised(file)
            if promised > path.stat().st_size:
                raise ValueError(f"it promises {promised} bytes and is shorter")
            file.seek(0)
            array = np.lib.format.read_array(file, allow_pickle=False)
    except Exception as problem:
        # NumPy reads a header by Python's own tokenizer and parser, and what is no
        # header raises whatever these raise, in sentences over many lines.
        why = " ".join(str(problem).split())[:200]
        raise ValueError(f"{path.name} is not an array of numbers: {why}") from None
    if not (np.issubdtype(array.dtype, np.number) and not np.iscomplexobj(array)):
        raise ValueError(f"{path.name} holds {array.dtype}, numbers would do")
    return array, f"{path.name}, of shape {' x '.join(map(str, array.shape))}"


def _refuse_odd(path: pathlib.Path) -> None:
    if not path.is_file():  # a folder, a pipe, a device without end
        raise ValueError(f"{path} is not a file")
    if path.stat().st_size > LARGEST:
        raise ValueError(f"{path.name} is larger than {LARGEST // 10**9} GB")


def _promised(file: BinaryIO) -> int:
    """The bytes of the array that a header promises; NumPy would make room for them."""
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"its format {version[0]}.{version[1]} is not read")
    shape, _, dtype = read(file)
    if min(shape, default=0) < 0:
        raise ValueError(f"its shape is {shape}")
    return math.prod(shape) * dtype.itemsize


def from_text(path: pathlib.Path, net: Recurrent, steps: int) -> tuple[np.ndarray, str]:
    """A text as tokens: its bytes, or the ranks of its distinct characters.

    A network of 256 tokens, or some more for marks of its own, hears bytes. A smaller
    one must have exactly as many tokens as the text has distinct characters, numbered
    in the order of their code points, as character models usually are. A larger one
    knows words, or pieces of them, by a vocabulary that is not in its weights.
    """
    if net.embedding is None:
        raise ValueError("a text needs a network with an embedding, and this has none")
    tokens = net.embedding.shape[0]
    _refuse_odd(path)
    with path.open("rb") as file:
        content = file.read(50_000_000)
    if not content:
        raise ValueError(f"{path.name} is empty")
    if tokens > MOST_BYTES:
        raise ValueError(
            f"the network has {tokens} tokens, which only its own vocabulary tells from "
            f"{path.name}; give tokens by --inputs"
        )
    if tokens >= 256:
        return np.frombuffer(content[:steps], np.uint8).astype(
            np.int32
        ), f"{path.name}, bytes"
    text = content.decode("utf-8", "replace")
    letters = sorted(set(text))
    if len(letters) != tokens:
        raise ValueError(
            f"{path.name} has {len(letters)} distinct characters and the network {tokens} "
            "tokens; give tokens by --inputs"
        )
    rank = {letter: i for i, letter in enumerate(letters)}
    return np.array(
        [rank[c] for c in text[:steps]], np.int32
    ), f"{path.name}, characters"


def noise(net: Recurrent, steps: int = STEPS, seed: int = 0) -> tuple[np.ndarray, str]:
    """Independent inputs: unit Gaussian numbers, or tokens all alike."""
    rng = np.random.default_rng(seed)
    if net.embedding is not None:
        tokens = net.embedding.shape[0]
        drawn = rng.integers(0, tokens, steps, dtype=np.int32)
        return (
            drawn,
            f"{steps} random tokens (seed {seed}); give --text or --inputs for real ones",
        )
    width = input_size(net.cell)
    if width is None:
        raise ValueError(
            "this cell does not say how many inputs it hears; give --inputs"
        )
    drawn = rng.normal(size=(steps, width))
    return (
        drawn,
        f"{steps} steps of unit noise (seed {seed}); give --inputs for real ones",
    )
