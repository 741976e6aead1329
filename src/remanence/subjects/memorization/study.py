r"""Memorization: strings written straight into weights.

A recurrent network can hold a string without any non-linearity, $h_{t+1} = W_h h_t$: its
state walks round, and the largest entry of $W_y h_t + b_y$ names the symbol. This study tries
every sentence of the notes, answers its open question (how small can the
state be?) with proofs, shows what dimension costs in precision and stability,
and looks at what gradient descent finds instead.
"""

from ...report import Bench, cross_table, Headline, Outcome, Study
from ..references import REFERENCES
from .atlas import atlas
from .claims import CLAIMS
from .config import Config, FULL, QUICK
from .experiments import least_factors
from .figures import figures
from .frontier import cross_rows, frontier, frontier_table
from .learned import learned_modes, train_memories, WEIGHTS


def run(config: Config, bench: Bench) -> Outcome:
    """Each sentence tried, then the open question answered."""
    seed = bench.seed
    results = {
        "config": config,
        "seed": seed,
        "atlas": atlas(config.periods, bench),
        "least factors": least_factors(config.feedback_periods, bench),
    }
    bench.tell(f"the frontier of {config.word!r}: every construction, {config.steps:,} steps")
    points = frontier(config.word, steps=config.steps, directions=config.directions, seed=seed)
    points = sorted(filter(None, points), key=lambda p: (p.dimension, -p.exponent))
    bench.tell("learned memory: one batch of words, kinds, sizes and seeds")
    trained = train_memories(config, bench)
    results |= {
        "frontier": {p.method: p for p in points},
        "learned": trained,
        "modes": learned_modes(trained),
    }
    bench.tell("the cross table")
    data = {
        "atlas": results["atlas"],
        "stability": results["least factors"],
        "frontier": frontier_table(points),
        "learned": trained.drop_vars(WEIGHTS),
        "cross": cross_table(cross_rows(config.word)),
    }
    return Outcome(results=results, data=data, figures=figures(config.word, results))


STUDY = Study(
    name="memorization",
    document="000",
    title="Memorization: strings written straight into weights",
    reference=REFERENCES["memorization"].text,
    claims=CLAIMS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={"quick": "about a minute", "full": "about ten minutes, most of it the atlas"},
    headline=Headline(
        claim="000.13",
        number="{largest} units",
        sentence="of a linear network hold every binary string of period up to {up_to} without feedback; fewer are refuted by proof.",
    ),
)
