"""Document 004: when a recurrent model need not be recurrent."""

from ...report import Study
from .config import FULL, QUICK
from .run import run
from .statements import STATEMENTS


STUDY = Study(
    name="stable-recurrence",
    document="004",
    title="When a recurrent model need not be recurrent",
    reference="Miller & Hardt 2018, When Recurrent Models Don't Need to be Recurrent (slides: O. Voinov)",
    statements=STATEMENTS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={
        "quick": "about 90 s of one busy core the first time, most of it compiling; no data beyond "
        "the shipped sonnets, no convolutions",
        "full": "about 70 minutes of one core; Shakespeare, WikiText-2 (10,000 words, an eighth "
        "of an epoch) and JSB, from REMANENCE_DATA or the network; longer recipes are kept, not run",
    },
)
