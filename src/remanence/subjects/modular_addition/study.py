r"""Modular addition: the Fourier circuit inside a recurrent network, found and written down.

A network that hears a, b and `=` learns a + b modulo P by turning numbers into
waves, $\cos\frac{2\pi k a}{P}$ and $\sin\frac{2\pi k a}{P}$ at a few frequencies $k$. This study trains such networks, takes them apart by frequency, rank and
ablation, writes one down in closed form, and asks what changes with the cell,
the operation and the recipe.
"""

from ...report import Headline, Study
from ..references import REFERENCES
from .config import FULL, QUICK
from .run import run
from .statements import STATEMENTS


STUDY = Study(
    name="modular-addition",
    document="002",
    title="Modular addition: Fourier structure in a trained RNN",
    reference=REFERENCES["modular-addition"].text,
    claims=STATEMENTS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={"quick": "about a minute", "full": "about twenty minutes"},
    headline=Headline(
        claim="002.1",
        number="{counts[0]} of {possible}",
        sentence="frequencies carry addition modulo a prime in a trained network.",
    ),
)
