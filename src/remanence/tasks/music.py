"""Polyphonic music: piano rolls of 88 keys, the next chord to be told from those before.

The four sets of Boulanger-Lewandowski et al. (2012), in the MATLAB files of the
public benchmark; the loss is the negative log-likelihood of a chord, in nats.
"""

from typing import Literal

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from .download import data_file


FILES = {
    "jsb": "JSB_Chorales",
    "nottingham": "Nottingham",
    "muse": "MuseData",
    "piano": "Piano_midi",
}


class Music(eqx.Module):
    """Pieces of one part, padded with silence; `lengths` are their real chords."""

    rolls: Float[np.ndarray, "pieces time 88"]
    lengths: Int[np.ndarray, " pieces"]


def music(source: Literal["jsb", "nottingham", "muse", "piano"] = "jsb") -> dict[str, Music]:
    """The parts `train`, `valid` and `test` of a set of piano rolls."""
    if source not in FILES:
        raise ValueError(f"source must be one of {', '.join(FILES)}, got {source!r}")
    import scipy.io

    path = data_file(f"polymusic/{FILES[source]}.mat")
    held = scipy.io.loadmat(path)
    return {part: _pad_pieces(held[f"{part}data"].ravel()) for part in ("train", "valid", "test")}


def _pad_pieces(pieces: np.ndarray) -> Music:
    lengths = np.asarray([len(piece) for piece in pieces], np.int32)
    rolls = np.zeros((len(pieces), int(lengths.max()), 88), np.float32)
    for row, piece in zip(rolls, pieces, strict=True):
        row[: len(piece)] = piece
    return Music(rolls, lengths)
