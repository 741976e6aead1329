r"""How much of the past a recurrent language model needs, measured on models trained here.

A layer $S' = A(u) S + \mathrm{write}(u)$ forgets at the rates $\langle\log A\rangle$, which one pass over
a text gives. From an empty state its gap is the product of its decays, and a stack waits for its
slowest layers. Small Mamba, RG-LRU, minGRU and LSTM language models are trained with equal
budgets, emptied at many positions of held-out text, and compared with themselves.
"""

import itertools
from typing import Any

import numpy as np
import xarray as xr

from ...report import Bench, Headline, Outcome, Study
from ..references import REFERENCES
from .claims import CLAIMS
from .experiments import Config, train_and_measure
from .figures import (
    divergence_figure,
    losses_figure,
    stack_figure,
    timescales_figure,
    windows_figure,
)


QUICK = Config()
FULL = Config(
    sources=("shakespeare", "wikitext"),
    width=64,
    length=128,
    batch=16,
    steps=1500,
    held_out=4096,
    starts=24,
    seeds=2,
)


def run(config: Config, bench: Bench) -> Outcome:
    """Every kind on every text with every seed; each training continues where it was stopped."""
    every = itertools.product(config.sources, range(config.seeds), config.kinds)
    models = [train_and_measure(config, source, kind, seed, bench) for source, seed, kind in every]
    results: dict[str, Any] = {"models": models}
    table = xr.Dataset(
        {
            "window_95": ("model", [_quantile(each["windows"]) for each in models]),
            "loss": ("model", [each["loss"] for each in models]),
        },
        {"model": [each["name"] for each in models]},
    )
    draw = (windows_figure, divergence_figure, stack_figure, timescales_figure, losses_figure)
    figures = tuple(each(models) for each in draw)
    return Outcome(results=results, data={"models": table}, figures=figures)


def _quantile(windows: np.ndarray) -> float:
    return float(np.quantile(windows, 0.95, method="higher"))


STUDY = Study(
    name="recurrent-language-models",
    document="005",
    title="How many tokens must a recurrent language model read again?",
    reference=REFERENCES["recurrent-language-models"].text,
    claims=CLAIMS,
    profiles={"quick": QUICK, "full": FULL},
    run=run,
    cost={
        "quick": "about a minute, most of it compiling; no data beyond the shipped sonnets",
        "full": "hours: Shakespeare's characters and WikiText-2's words from REMANENCE_DATA, "
        "four kinds, two seeds",
    },
    headline=Headline(
        claim="005.7",
        number="{least:.2g} to {most:.2g} ×",
        sentence="an LSTM's replay window is what gated models of its size need, kind by kind.",
    ),
)
