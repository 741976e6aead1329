r"""When a recurrent model need not be recurrent: certify, truncate, and say what was given up.

A map with $|\phi(h, x) - \phi(h', x)| \leq \lambda |h - h'|$, $\lambda < 1$, forgets: what it heard
more than $k$ steps ago moves its state by at most

$\lambda^k\,\dfrac{L_x B_x + |\phi(0, 0)|}{1 - \lambda}$

so that a feed-forward network over the last $k$ inputs computes the same to any error wanted.
Document 004 proves it, and that truncated and full training stay together; it holds that
trained models are stable in effect, and that little is lost by making them so. This study
tries the lemmas on drawn networks, certifies more than their norm does, trains models of
text and music with and without the constraint, and shows the tasks on which it costs.
"""

from ...report import Study
from ..references import REFERENCES
from .config import FULL, QUICK
from .run import run
from .statements import STATEMENTS


STUDY = Study(
    name="stable-recurrence",
    document="004",
    title="When a recurrent model need not be recurrent",
    reference=REFERENCES["stable-recurrence"].text,
    claims=STATEMENTS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={
        "quick": "about 90 s of one busy core the first time, most of it compiling; no data beyond "
        "the shipped sonnets, no convolutions",
        "full": "about 70 minutes of one core; Shakespeare, WikiText-2 (10,000 words, an eighth "
        "of an epoch) and JSB, from REMANENCE_DATA or the network; longer recipes are kept, not run",
    },
)
