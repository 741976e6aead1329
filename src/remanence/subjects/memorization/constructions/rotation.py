r"""The document's first memory: $W_h = R(2\pi j/p)$, a walk round a regular polygon.

p steps make one turn (j = 1), or j turns. Two units serve exactly those words
whose symbols an argmax of affine functions can tell apart on the polygon.
"""

import numpy as np

from ..harmonics import units, waves
from ..minimal.deadline import Deadline, NEVER
from ..minimal.separation import proved_lead, separation, widest
from ..words import Word
from ..written import Written
from .harmonic import harmonic


def rotation(w: Word, deadline: Deadline = NEVER) -> tuple[Written, int]:
    """The network and its number of turns per period, the least turns first; at the
    deadline no more are tried."""
    p, labels = w.period, w.pattern
    if p == 1:
        return harmonic(w, (), np.zeros((1, 1)), 0.0), 0
    for j in (j for j in units(p) if 2 * j <= p):
        phi = waves(p, (j,), np.arange(p))
        first = separation(labels, phi, deadline=deadline).u
        if first is not None and proved_lead(first, labels, phi) > 0:
            u = widest(labels, phi, first, deadline)
            return harmonic(w, (j,), u, proved_lead(u, labels, phi)), j
    tried = "of those tried in time " if deadline.late else ""
    raise ValueError(
        f"rotation does not serve this word: no polygon {tried}tells its symbols apart; "
        "harmonic, rational, permutation, tanh and shift do"
    )
