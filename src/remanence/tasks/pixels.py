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


def pixels(source: Literal["digits", "mnist"] = "digits", *, permuted: int | None = None) -> Pixels:
    """Sequential pixels, `permuted` by a seed or in order.

    `digits` are drawn at 8 x 8 pixels, 2,500 to train and 500 held out: they need no
    download. `mnist` has 28 x 28 pixels, 60,000 and 10,000, and is read from
    `REMANENCE_DATA` or downloaded.

    >>> task = pixels()
    >>> task.train_x.shape, task.side
    ((2500, 64, 1), 8)
    """
    if source == "digits":
        drawn, digits = drawn_digits(3000, 8, seed=0)
        images, labels = np.split(drawn, [2500]), np.split(digits, [2500])
    elif source == "mnist":
        images, labels = ([_idx(f"{part}-{kind}") for part in PARTS] for kind in KINDS)
        images = [part / np.float32(255) for part in images]
    else:
        raise ValueError(f"source must be 'digits' or 'mnist', got {source!r}")
    side = images[0].shape[1]
    order = np.arange(side * side)
    if permuted is not None:
        order = np.random.default_rng(permuted).permutation(order)
    rows = lambda part: part.reshape(-1, side * side)[:, order, None].astype(np.float32)
    (train, test), (train_y, test_y) = map(rows, images), (y.astype(np.int32) for y in labels)
    return Pixels(train, train_y, test, test_y, side, permuted)


PARTS, KINDS = ("train", "t10k"), ("images-idx3-ubyte", "labels-idx1-ubyte")


def _idx(name: str) -> np.ndarray:
    """One IDX file of bytes: two zeros, type 8, the rank, the sizes, the values."""
    path = data_file(f"mnist/{name}.gz", otherwise="the 8 x 8 digits need no download")
    raw = gzip.decompress(path.read_bytes())
    rank = raw[3]
    sizes = np.frombuffer(raw, ">u4", count=rank, offset=4).astype(int)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(sizes)
