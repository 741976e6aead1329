r"""Fading memory: weakly coupled residual networks, $h' = R h + \gamma\tanh(W_h h + W_x x + b)$.

Document 001 says that the residual sets the exponents, that the edge of chaos is the
best place to learn from, that a rotation should turn with the data, and that many
timescales beat one. Six experiments ask whether that is so: the spectrum over the
coupling; accuracy over the radius and over the angle, on pixels in order and
permuted; homogeneous, heterogeneous and informed residuals; bent residuals, gated
cells, orthogonal initialisation and clipping on the same budget; the adding problem.

Chosen by us, since the document's summary does not say: 32 units, γ = 0.1, Adam,
batches of 64, the readout after the last step, residual and coupling not trained.
"""

from ...report import Study
from .config import FULL, QUICK
from .run import run
from .statements import STATEMENTS


STUDY = Study(
    name="fading-memory",
    document="001",
    title="Fading memory: weakly coupled residual networks",
    reference="Dubinin & Effenberger, Fading memory as inductive bias in residual recurrent networks, arXiv:2307.14823",
    claims=STATEMENTS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={
        "quick": "about a minute: 8 x 8 digits, 200 steps a network, 3 seeds",
        "full": "about twenty minutes: MNIST shrunk to 14 x 14, 500 steps a network, 3 seeds",
    },
)
