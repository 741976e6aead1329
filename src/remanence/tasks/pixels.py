r"""Images heard one pixel at a time, $s_t$ = pixel $\pi(t)$; the class is asked for at the end.

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

    `digits` are scikit-learn's 1,797 images of 8 x 8 pixels, which need no download:
    1,297 to train, 500 held out. `mnist` has 28 x 28 pixels, 60,000 and 10,000, and
    is read from `REMANENCE_DATA` or downloaded. `shrink` averages squares of that
    many pixels a side; `samples` keeps the first so many training images.

    >>> task = pixels()
    >>> task.train_x.shape, task.side
    ((1297, 64, 1), 8)
    """
    if source == "digits":
        images, labels = _digits()
    elif source == "mnist":
        images, labels = _mnist()
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
    return Pixels(train[:samples], labels[0][:samples], test, labels[1], side, permuted)


def _sequences(images: np.ndarray, side: int, shrink: int) -> np.ndarray:
    squares = images.reshape(-1, side, shrink, side, shrink).mean((2, 4))
    return squares.reshape(-1, side * side).astype(np.float32)


def _digits() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    from sklearn.datasets import load_digits

    values, target = load_digits(return_X_y=True)
    # The file is ordered by writer; the split is drawn so that both parts hear all.
    order = np.random.default_rng(0).permutation(len(target))
    images = np.asarray(values)[order].reshape(-1, 8, 8) / 16
    labels = np.asarray(target)[order].astype(np.int32)
    return (images[:1297], images[1297:]), (labels[:1297], labels[1297:])


def _mnist() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    images = (_idx("train-images-idx3-ubyte.gz"), _idx("t10k-images-idx3-ubyte.gz"))
    labels = (_idx("train-labels-idx1-ubyte.gz"), _idx("t10k-labels-idx1-ubyte.gz"))
    return (images[0] / np.float32(255), images[1] / np.float32(255)), (
        labels[0].astype(np.int32),
        labels[1].astype(np.int32),
    )


def _idx(name: str) -> np.ndarray:
    """One IDX file of bytes: two zeros, type 8, the rank, the sizes, the values."""
    path = data_file(f"mnist/{name}", otherwise="the 8 x 8 digits need no download")
    raw = gzip.decompress(path.read_bytes())
    rank = raw[3]
    sizes = np.frombuffer(raw, ">u4", count=rank, offset=4).astype(int)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(sizes)
