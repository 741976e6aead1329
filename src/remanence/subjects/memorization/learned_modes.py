r"""What a linear network learned: the eigenvalues of $W_h$ that its logits use."""

import dataclasses
import itertools
import math

import numpy as np
import xarray as xr

from .harmonics import cost
from .learned import needed, PERIODS
from .words import word


ACTIVE = 0.02
"""A mode with less of the logits' energy than this is not used."""
NEAR = 0.05
"""An eigenvalue this near a root of unity is taken for it."""
ASKEW = 0.2
"""Angles off by more than this part of the spacing of the roots match no construction."""


@dataclasses.dataclass(frozen=True)
class Modes:
    """What a learned linear memory is made of."""

    word: str
    units: int
    eigenvalues: tuple[complex, ...]
    """Those that its logits use."""
    frequencies: tuple[int, ...]
    """The nearest roots of unity, without the constant."""
    distance: float
    """The largest distance of a used eigenvalue from its root of unity."""
    nearest: str
    """The construction that turns by the same angles, whatever its radii."""


def modes(W_h: np.ndarray, W_y: np.ndarray, h_0: np.ndarray, *, letters: str) -> Modes:
    """The modes that carry the logits, and the construction that they come nearest to."""
    p = word(letters).period
    values, V = np.linalg.eig(W_h.astype(float))
    weights = np.linalg.lstsq(V, h_0.astype(complex), rcond=None)[0]
    # A mode's share: its logits over the steps shown, the mean over symbols removed.
    t = np.arange(1, PERIODS * p + 1)
    C = W_y @ V * weights
    C = C - C.mean(axis=0)
    energy = (np.abs(C) ** 2).sum(axis=0) * (np.abs(values)[:, None] ** (2 * t)).sum(axis=1)
    share = np.where(np.abs(np.angle(values)) > math.pi / p / 2, energy, 0.0)
    used = values[share > ACTIVE * max(share.sum(), 1e-30)]
    nearest = np.rint(np.angle(used) * p / (2 * math.pi)).astype(int) % p
    roots = np.exp(2j * math.pi * nearest / p)
    S = tuple(sorted({int(min(j, p - j)) for j in nearest}))
    turn = np.abs(np.angle(used / roots)).max(initial=0.0)
    name = "minimal harmonic" if cost(S, p) <= needed(letters) else "harmonic"
    if not used.size or turn > ASKEW * 2 * math.pi / p:
        name = "none"
    elif cost(S, p) >= p - 1:
        name = "permutation"
    distance = float(np.abs(used - roots).max(initial=0.0))
    return Modes(letters, len(W_h), tuple(used.tolist()), S, distance, name)


def learned_modes(table: xr.Dataset) -> list[Modes]:
    """Those of every linear network that learned its word."""
    found = []
    for letters, d, seed in itertools.product(
        table.word.values, table.units.values, table.seed.values
    ):
        one = table.sel(word=letters, kind="linear", units=d, seed=seed)
        if bool(one.learned):
            W_h, W_y, h_0 = one.W_h.values[:d, :d], one.W_y.values[:, :d], one.h_0.values[:d]
            found.append(modes(W_h, W_y, h_0, letters=str(letters)))
    return found
