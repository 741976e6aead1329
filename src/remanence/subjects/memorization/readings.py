r"""What a linear network learned: the eigenvalues of $W_h$ that its logits use."""

import dataclasses
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
class Reading:
    """What a learned linear memory is made of."""

    eigenvalues: tuple[complex, ...]
    """Those that its logits use."""
    frequencies: tuple[int, ...]
    """The nearest roots of unity, without the constant."""
    distance: float
    """The largest distance of a used eigenvalue from its root of unity."""
    angle: float
    """The same in angle alone, in radians."""
    nearest: str
    """The construction that turns by the same angles, whatever its radii."""


def reading(W_h: np.ndarray, W_y: np.ndarray, h_0: np.ndarray, *, spelled: str) -> Reading:
    """The modes that carry the logits, and the construction that they come nearest to."""
    p, least = word(spelled).period, needed(spelled)
    values, V = np.linalg.eig(W_h.astype(float))
    weights = np.linalg.lstsq(V, h_0.astype(complex), rcond=None)[0]
    # A mode's share: its logits over the steps shown, the mean over symbols removed.
    t = np.arange(1, PERIODS * p + 1)
    C = W_y @ V * weights
    C = C - C.mean(axis=0)
    energy = (np.abs(C) ** 2).sum(axis=0) * (np.abs(values)[:, None] ** (2 * t)).sum(axis=1)
    turning = np.abs(np.angle(values)) > math.pi / p / 2
    share = np.where(turning, energy, 0.0)
    used = share > ACTIVE * max(share.sum(), 1e-30)
    kept = values[used]
    nearest = np.rint(np.angle(kept) * p / (2 * math.pi)).astype(int) % p
    off = np.abs(kept - np.exp(2j * math.pi * nearest / p))
    S = tuple(sorted({int(min(j, p - j)) for j in nearest}))
    price = cost(S, p)
    turn = np.abs(np.angle(kept * np.exp(-2j * math.pi * nearest / p)))
    if not kept.size or turn.max() > ASKEW * 2 * math.pi / p:
        name = "none"
    elif price >= p - 1:
        name = "permutation"
    elif price <= least:
        name = "minimal harmonic"
    else:
        name = "harmonic"
    return Reading(
        tuple(complex(z) for z in kept),
        S,
        float(off.max(initial=0.0)),
        float(turn.max(initial=0.0)),
        name,
    )


def readings(table: xr.Dataset) -> list[tuple[str, int, int, Reading]]:
    """A reading of every linear network that learned its word."""
    found = []
    for spelled in table.word.values:
        part = table.sel(word=spelled, kind="linear")
        for units in table.units.values:
            for seed in table.seed.values:
                one = part.sel(units=units, seed=seed)
                if not bool(one.learned):
                    continue
                d = int(units)
                found.append(
                    (
                        str(spelled),
                        d,
                        int(seed),
                        reading(
                            one.W_h.values[:d, :d],
                            one.W_y.values[:, :d],
                            one.h_0.values[:d],
                            spelled=str(spelled),
                        ),
                    )
                )
    return found
