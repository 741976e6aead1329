r"""Images read one pixel at a time, $s_t$ = pixel $\pi(t)$; the class is asked for at the end.

Sequential pixels leave the rows in order, so the data repeats itself every `side`
steps and its power peaks at $2\pi/\mathrm{side}$; a permutation of the pixels leaves
what can be learned alone and takes that period away.
"""

import gzip
from typing import Literal

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from .download import data_file
from .drawn_digits import drawn_digits


class Pixels(eqx.Module):
    """A data set of pixel sequences, values in [0, 1], split once and for all."""

    train_x: Float[np.ndarray, "train time 1"]
    train_y: Int[np.ndarray, " train"]
    test_x: Float[np.ndarray, "test time 1"]
    test_y: Int[np.ndarray, " test"]
    side: int
    """Pixels in a row: without permutation, the period of the data in steps."""
    permuted: int | None
    """The seed of the permutation, or None for rows in order."""


def pixels(
    source: Literal["digits", "mnist"] = "digits",
    *,
    permuted: int | None = None,
    shrink: int = 1,
    samples: int | None = None,
) -> Pixels:
    """Sequential pixels, `permuted` by a seed or in order.

    `digits` are drawn at 8 x 8 pixels, 2,500 to train and 500 held out: they need no
    download. `mnist` has 28 x 28 pixels, 60,000 and 10,000, and is read from
    `REMANENCE_DATA` or downloaded. `shrink` averages squares of that many pixels a side;
    `samples` keeps the first so many training images.

    >>> task = pixels()
    >>> task.train_x.shape, task.side
    ((2500, 64, 1), 8)
    """
    if source == "digits":
        drawn, digits = drawn_digits(3000, 8, seed=0)
        images, labels = (drawn[:2500], drawn[2500:]), (digits[:2500], digits[2500:])
    elif source == "mnist":
        images, labels = ([_idx(f"{part}-{kind}") for part in PARTS] for kind in KINDS)
        images = [part / np.float32(255) for part in images]
    else:
        raise ValueError(f"source must be 'digits' or 'mnist', got {source!r}")
    side = images[0].shape[1]
    if shrink < 1 or side % shrink:
        raise ValueError(f"shrink must divide {side}, got {shrink}")
    if samples is not None and not 0 < samples <= len(labels[0]):
        raise ValueError(f"samples must be from 1 to {len(labels[0])}, got {samples}")
    side //= shrink
    order = np.arange(side * side)
    if permuted is not None:
        order = np.random.default_rng(permuted).permutation(order)
    train, test = (_sequences(part, side, shrink)[:, order, None] for part in images)
    train_y, test_y = (part.astype(np.int32) for part in labels)
    return Pixels(train[:samples], train_y[:samples], test, test_y, side, permuted)


def _sequences(images: np.ndarray, side: int, shrink: int) -> np.ndarray:
    squares = images.reshape(-1, side, shrink, side, shrink).mean((2, 4))
    return squares.reshape(-1, side * side).astype(np.float32)


PARTS, KINDS = ("train", "t10k"), ("images-idx3-ubyte", "labels-idx1-ubyte")


def _idx(name: str) -> np.ndarray:
    """One IDX file of bytes: two zeros, type 8, the rank, the sizes, the values."""
    path = data_file(f"mnist/{name}.gz", otherwise="the 8 x 8 digits need no download")
    raw = gzip.decompress(path.read_bytes())
    rank = raw[3]
    sizes = np.frombuffer(raw, ">u4", count=rank, offset=4).astype(int)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(sizes)
