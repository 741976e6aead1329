r"""Images read one pixel at a time, $s_t$ = pixel $\pi(t)$; the class is asked for at the end.

Sequential pixels leave the rows in order, so the data repeats itself every `side`
steps and its power peaks at $2\pi/\mathrm{side}$; a permutation of the pixels leaves
what can be learned alone and takes that period away. Digits that are drawn, polylines under
random affine maps, need no download: a small stand-in for handwritten ones.
"""

import gzip
import itertools
from typing import Literal

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from .download import data_file


STROKES = (
    "10 30 41 45 36 16 05 01 10",
    "11 20 26",
    "01 10 30 41 42 06 46",
    "01 10 30 41 42 33 13/33 44 45 36 16 05",
    "36 30 04 44",
    "40 00 03 33 44 45 36 16 05",
    "30 11 03 05 16 36 45 44 33 13 04",
    "00 40 16",
    "10 30 41 42 33 13 02 01 10/13 04 05 16 36 45 44 33",
    "42 33 13 02 01 10 30 41 45 26",
)
"""Points (column, row) on a grid of 5 x 7; a slash lifts the pen."""


def drawn_digits(
    samples: int, side: int, *, seed: int
) -> tuple[Float[np.ndarray, "samples side side"], Int[np.ndarray, " samples"]]:
    """Images with values in [0, 1] and their digits, all ten equally often.

    Each is turned, sheared, scaled and shifted, its points are moved, and its pen is
    thinner or thicker.

    >>> images, digits = drawn_digits(20, 8, seed=0)
    >>> images.shape, np.bincount(digits).tolist()
    ((20, 8, 8), [2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    """
    rng = np.random.default_rng(seed)
    digits = rng.permutation(np.arange(samples) % 10).astype(np.int32)
    images = np.zeros((samples, side, side))
    for digit, strokes in enumerate(STROKES):
        at = np.flatnonzero(digits == digit)
        images[at] = _draw_digit(strokes, len(at), side, rng)
    return images, digits


def _draw_digit(strokes: str, count: int, side: int, rng: np.random.Generator) -> np.ndarray:
    """One digit so many times: full where the pen is, falling to 0 within a pixel."""
    lines = [[[int(c) for c in p] for p in stroke.split()] for stroke in strokes.split("/")]
    pieces = np.array([pair for line in lines for pair in itertools.pairwise(line)])
    pieces = (pieces - [2, 3]) / 8 + 0.02 * rng.normal(size=(count, *pieces.shape))
    turn, shear = 0.15 * rng.normal(size=(2, count))
    maps = np.array([[np.cos(turn), shear - np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    maps *= rng.uniform(0.8, 1.1, (2, 1, count))
    shift = rng.uniform(-0.08, 0.08, (count, 1, 2)) + 0.5
    ends = np.einsum("ijn,nkpj->nkpi", maps, pieces) + shift[:, :, None]
    middles = (np.arange(side) + 0.5) / side
    pixels = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 1, 2)
    start, way = ends[:, None, :, 0], (ends[..., 1, :] - ends[..., 0, :])[:, None]
    along = ((pixels - start) * way).sum(-1) / (way**2).sum(-1)
    nearest = start + np.clip(along, 0, 1)[..., None] * way
    distance = np.linalg.norm(pixels - nearest, axis=-1).min(-1)
    pen = rng.uniform(0.02, 0.06, (count, 1))
    return np.clip(1 - side * (distance - pen), 0, 1).reshape(count, side, side)


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
        kinds = ("images-idx3-ubyte", "labels-idx1-ubyte")
        images, labels = ([_idx(f"{part}-{kind}") for part in ("train", "t10k")] for kind in kinds)
        images = [part / np.float32(255) for part in images]
    else:
        raise ValueError(f"source must be 'digits' or 'mnist', got {source!r}")
    side = images[0].shape[1]
    order = np.arange(side * side)
    order = order if permuted is None else np.random.default_rng(permuted).permutation(order)
    rows = lambda part: part.reshape(-1, side * side)[:, order, None].astype(np.float32)
    (train, test), (train_y, test_y) = map(rows, images), (y.astype(np.int32) for y in labels)
    return Pixels(train, train_y, test, test_y, side, permuted)


def _idx(name: str) -> np.ndarray:
    """One IDX file of bytes: two zeros, type 8, the rank, the sizes, the values."""
    path = data_file(f"mnist/{name}.gz", otherwise="the 8 x 8 digits need no download")
    raw = gzip.decompress(path.read_bytes())
    sizes = np.frombuffer(raw, ">u4", count=raw[3], offset=4).astype(int)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(sizes)
