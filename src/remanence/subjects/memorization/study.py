r"""Memorization: strings written straight into weights.

A recurrent network can hold a string without any non-linearity, $h_{t+1} = W_h h_t$: its
state walks round, and the largest entry of $W_y h_t + b_y$ names the symbol. This study tries
every sentence of the document, answers its open question (how small can the
state be?) with proofs, shows what dimension costs in precision and stability,
and looks at what gradient descent finds instead.
"""

from ...report import Headline, Study
from ..references import REFERENCES
from .config import FULL, QUICK
from .run import run
from .statements import STATEMENTS


STUDY = Study(
    name="memorization",
    document="000",
    title="Memorization: strings written straight into weights",
    reference=REFERENCES["memorization"].text,
    claims=STATEMENTS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={"quick": "about a minute", "full": "about five minutes"},
    headline=Headline(
        claim="000.13",
        number="{largest} units",
        sentence="hold every binary string of period up to {up_to} without feedback; fewer are refuted by proof.",
    ),
)
