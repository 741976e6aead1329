"""Polyphonic music: piano rolls of 88 keys, the next chord to be predicted from those before.

The JSB chorales of Boulanger-Lewandowski et al. (2012), in the MATLAB file of the
public benchmark; the loss is the negative log-likelihood of a chord, in nats.
"""

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from .download import data_file


class Music(eqx.Module):
    """Pieces of one part, padded with silence; `lengths` are their real chords."""

    rolls: Float[np.ndarray, "pieces time 88"]
    lengths: Int[np.ndarray, " pieces"]


def music() -> dict[str, Music]:
    """The parts `train`, `valid` and `test` of the JSB chorales."""
    import scipy.io

    held, found = scipy.io.loadmat(data_file("polymusic/JSB_Chorales.mat")), {}
    for part in ("train", "valid", "test"):
        pieces = held[f"{part}data"].ravel()
        lengths = np.asarray([len(piece) for piece in pieces], np.int32)
        rolls = np.zeros((len(pieces), int(lengths.max()), 88), np.float32)
        for row, piece in zip(rolls, pieces, strict=True):
            row[: len(piece)] = piece
        found[part] = Music(rolls, lengths)
    return found
