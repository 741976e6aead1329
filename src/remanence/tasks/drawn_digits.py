"""Images of the ten digits, drawn: polylines under random affine maps, any number and size.

They need no download and no package: a small stand-in for handwritten digits.
"""

import itertools

import numpy as np
from jaxtyping import Float, Int


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
