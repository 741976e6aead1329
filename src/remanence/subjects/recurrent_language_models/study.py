r"""How much of the past a recurrent language model needs, measured on models trained here.

A layer $S' = A(u) S + \mathrm{write}(u)$ forgets at the rates $\langle\log A\rangle$, which one pass over
a text gives. From an empty state its gap is the product of its decays, and a stack waits for its
slowest layers. Small Mamba, RG-LRU, minGRU and LSTM language models are trained with equal
budgets, emptied at many positions of held-out text, and compared with themselves.
"""

from typing import Any

import numpy as np
import xarray as xr

from ...report import Bench, Headline, Outcome, Study
from ..references import REFERENCES
from .claims import CLAIMS
from .experiments import Config, trained
from .figures import losses_figure, timescales_figure, windows_figure


QUICK = Config(kinds=("mamba", "mingru", "lstm"))
FULL = Config(
    source="shakespeare", width=64, length=128, batch=32, steps=3000, heard=8192, starts=24, seeds=2
)
WORDS = Config(
    source="wikitext", width=128, length=64, batch=32, steps=4000, heard=4096, starts=24, seeds=2
)


def run(config: Config, bench: Bench) -> Outcome:
    """Every kind with every seed; each training continues where it was stopped."""
    models = [
        trained(config, kind, seed, bench) for seed in range(config.seeds) for kind in config.kinds
    ]
    results: dict[str, Any] = {"models": models}
    table = xr.Dataset(
        {
            "window_95": ("model", [_quantile(each["windows"]) for each in models]),
            "loss": ("model", [each["loss"] for each in models]),
        },
        {"model": [f"{each['kind']}-{each['seed']}" for each in models]},
    )
    figures = (windows_figure(models), timescales_figure(models), losses_figure(models))
    return Outcome(results=results, data={"models": table}, figures=figures)


def _quantile(windows: np.ndarray) -> float:
    return float(np.quantile(windows, 0.95, method="higher"))


STUDY = Study(
    name="recurrent-language-models",
    document="005",
    title="How many tokens must a recurrent language model read again?",
    reference=REFERENCES["recurrent-language-models"].text,
    claims=CLAIMS,
    profiles={"quick": QUICK, "full": FULL, "words": WORDS},
    run=run,
    cost={
        "quick": "about a minute, most of it compiling; no data beyond the shipped sonnets",
        "full": "hours: Shakespeare's characters from REMANENCE_DATA, four kinds, two seeds",
        "words": "hours: WikiText-2's words from REMANENCE_DATA, four kinds, two seeds",
    },
    headline=Headline(
        claim="005.7",
        number="{gated:.0f} tokens",
        sentence="read again from an empty state give half of the restarts their output back.",
    ),
)
