r"""Shared representations: gated deep linear networks that translate.

$L$ languages of $D$ words are taught into each other, a few pairs only, by
$W_o^k W_h W_i^l$. Document 003 asks when the other pairs come for free. This study
redoes its Figure 1 cell by cell, shows what its mask did, and answers: the threshold
is the connectivity of the graph of taught pairs; a smaller σ cannot pass it; spikes
are steps or sign walls; and what σ a graph needs follows from its singular values.

Chosen by us: the full mask is trained to Λ = 1e-6, by gradient flow in the full profile
and by float32 descent with a safe step in the quick one; the diagonal mask by the
document's own SGD in float32 with its own draw.
"""

from ...report import Headline, Study
from .config import FULL, QUICK
from .one_cell import one_cell
from .run import run
from .statements import STATEMENTS


STUDY = Study(
    name="shared-representations",
    document="003",
    title="Shared representations: gated deep linear networks",
    reference="Shared representations in gated deep linear networks (unpublished notes), after Saxe et al., The neural race reduction, arXiv:2207.10430",
    claims=STATEMENTS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={
        "quick": "about a minute: six words, a coarse grid",
        "full": "about an hour on two cores: 32 words and units, the document's grid of 234 cells with its SGD and again with the full mask, its spikes two other ways, hundreds of graphs, its 18 sample cells compared if their file is there",
    },
    cell=one_cell,
    headline=Headline(
        claim="003.1",
        number="{connected_generalise:.0%} against {disconnected_generalise:.0%}",
        sentence="of trained networks translate untaught pairs: where the graph of taught pairs is connected, and where it is not.",
    ),
)
