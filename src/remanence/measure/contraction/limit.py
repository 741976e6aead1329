r"""How much is left: no fixed metric can prove a rate below $\max_D \rho(R + \gamma D W)$.

A metric in which every $R + \gamma D W$, $a \le D \le b$, contracts by $\lambda$
bounds the spectral radius of each of them by $\lambda$. For slopes in $[0, 1]$ the
corners $D$ are masks, and the limit on a certified gain is $1 / \max_S \rho(W_{SS})$.
The maximum over corners is searched greedily: what is found is a valid limit.
"""

import time

import numpy as np
import scipy.linalg
from jaxtyping import Bool

from .loop import Loop


TRIES = 32


def masked_radius(loop: Loop, *, deadline: float, starts: int = 12) -> float:
    """The largest spectral radius found over the corners of the slopes."""
    rng = np.random.default_rng(0)
    masks = [np.ones(loop.units, bool), *(rng.random((starts - 1, loop.units)) < 0.8)]
    found = []
    for mask in masks:
        found.append(_climb(loop, mask, deadline))
        if time.monotonic() > deadline:
            break
    return max(found)


def _climb(loop: Loop, mask: Bool[np.ndarray, " units"], deadline: float) -> float:
    """Flips the slope that promises most until none of the best `TRIES` helps."""
    a, b = loop.slopes
    at = lambda mask: loop.R + loop.gamma * np.where(mask, b, a)[:, None] * loop.W
    radius = lambda mask: float(np.max(np.abs(np.linalg.eigvals(at(mask)))))
    found = radius(mask)
    while time.monotonic() < deadline:
        values, left, right = scipy.linalg.eig(at(mask), left=True)  # pyright: ignore[reportAssignmentType]
        top = int(np.argmax(np.abs(values)))
        u, v = left[:, top], right[:, top]
        # d|mu| = Re(conj(mu) u* dJ v / u* v) / |mu| for a simple eigenvalue mu.
        turned = np.conj(values[top]) / (np.vdot(u, v) + 1e-300)
        slope = np.real(turned * np.conj(u) * loop.gamma * (loop.W @ v))
        for i in np.argsort(slope * np.where(mask, b - a, a - b))[:TRIES]:
            trial = mask.copy()
            trial[i] = not trial[i]
            if (higher := radius(trial)) > found * (1 + 1e-9):
                found, mask = higher, trial
                break
        else:
            break
    return found
