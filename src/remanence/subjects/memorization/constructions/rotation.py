r"""The document's first memory: $W_h = R(2\pi j/p)$, a walk round a regular polygon.

p steps make one turn (j = 1), or j turns. Two units serve exactly those words
whose symbols an argmax of affine functions can tell apart on the polygon.
"""

import numpy as np

from ..harmonics import features, table, units
from ..minimal.deadline import Deadline, NEVER
from ..minimal.separation import proved_gap, radius, widest
from ..words import Word
from ..written import Written
from .harmonic import spread


def rotation(w: Word, deadline: Deadline = NEVER) -> tuple[Written, int, float]:
    """The network, its number of turns per period and its margin; the least turns first.
    At the deadline no more turns are tried."""
    p, labels = w.period, w.pattern
    for j in (j for j in units(p) if 2 * j <= max(p, 2)):
        # p = 1 and p = 2 need fewer dimensions, yet fit in the plane.
        phi = (
            features(p, (j,))
            if p > 2
            else np.stack([np.ones(p), np.array([1.0, -1.0])[:p], np.zeros(p)])
        )
        if deadline.late:
            break
        u = widest(labels, phi, deadline=deadline)
        if u is None:
            continue
        cos, sin = table(p)
        c, s = cos[j % p], sin[j % p]
        W_y, b_y = spread(w, u, proved_gap(u, labels, phi))
        if proved_gap(_restricted(w, W_y, b_y), labels, phi) > 0:
            R = np.array([[c, -s], [s, c]])
            return Written(R, W_y, b_y, np.array([c, -s])), j, radius(u, labels, phi)
    tried = "of those tried in time" if deadline.late else ""
    raise ValueError(
        f"rotation does not serve this word: no polygon {tried} tells its symbols apart; "
        "harmonic, rational, permutation, tanh and shift do"
    )


def _restricted(w: Word, W_y: np.ndarray, b_y: np.ndarray) -> np.ndarray:
    used = list(w.used)
    return np.concatenate([b_y[used, None], W_y[used]], axis=1)
