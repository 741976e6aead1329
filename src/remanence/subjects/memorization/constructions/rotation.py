r"""The document's first memory: $W_h = R(2\pi j/p)$, a walk round a regular polygon.

p steps make one turn (j = 1), or j turns. Two units serve exactly those words
whose symbols an argmax of affine functions can tell apart on the polygon.
"""

import numpy as np

from ..harmonics import table, units
from ..minimal.deadline import Deadline, NEVER
from ..minimal.separation import proved_lead, separation, widest
from ..words import Word
from ..written import Written
from .harmonic import readout_over_alphabet


def rotation(w: Word, deadline: Deadline = NEVER) -> tuple[Written, int]:
    """The network and its number of turns per period, the least turns first; at the
    deadline no more are tried."""
    p, labels, (cos, sin) = w.period, w.pattern, table(w.period)
    for j in (j for j in units(p) if 2 * j <= max(p, 2)):
        # p = 1 and p = 2 need fewer dimensions, yet fit in the plane.
        phi = np.stack([np.ones(p), cos[j * np.arange(p) % p], sin[j * np.arange(p) % p]])
        if deadline.late:
            break
        first = separation(labels, phi, deadline=deadline).u
        if first is None:
            continue
        u = widest(labels, phi, first, deadline)
        c, s = cos[j % p], sin[j % p]
        W_y, b_y = readout_over_alphabet(w, u, proved_lead(u, labels, phi))
        used = list(w.used)
        if proved_lead(np.column_stack([b_y[used], W_y[used]]), labels, phi) > 0:
            return Written(np.array([[c, -s], [s, c]]), W_y, b_y, np.array([c, -s])), j
    tried = "of those tried in time " if deadline.late else ""
    raise ValueError(
        f"rotation does not serve this word: no polygon {tried}tells its symbols apart; "
        "harmonic, rational, permutation, tanh and shift do"
    )
