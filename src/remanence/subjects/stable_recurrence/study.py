r"""When a recurrent model need not be recurrent: certify, truncate, and say what was given up.

A map with $|\phi(h, x) - \phi(h', x)| \leq \lambda |h - h'|$, $\lambda < 1$, forgets: what it read
more than $k$ steps ago moves its state by at most

$\lambda^k\,\dfrac{L_x B_x + |\phi(0, 0)|}{1 - \lambda}$

so that a feed-forward network over the last $k$ inputs computes the same to any error wanted.
Miller and Hardt (2019) prove it, and that truncated and full training stay together; they hold
that trained models are stable in effect, and that little is lost by making them so. This study
tries the lemmas on drawn networks, certifies more than their norm does, trains models of
text and music with and without the constraint, and shows the tasks on which it costs.
"""

import functools
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from ...measure import lyapunov_spectrum
from ...report import Bench, cross_table, Headline, Outcome, Row, Study
from ..references import REFERENCES
from . import random_instances
from .claims import CLAIMS
from .claims.models import sound
from .config import Config, FULL, Language, QUICK, WORDS
from .figures import context_table, figures
from .memory_tasks import memory_tables
from .text_and_music import language_task, music_task, proved
from .train_stable_and_free import CELLS, model_name, Models, Parts, train_stable_and_free
from .truncated_training import truncated_training_gap


def run(config: Config, bench: Bench) -> Outcome:
    """All experiments that there is time for, in the order of their weight."""
    parts = Parts(bench)
    bench.tell("lemmas and projected descent on random Gaussian instances")
    seeds = range(1_000 * bench.seed, 1_000 * bench.seed + config.instances)
    size = (config.units, seeds, config.length, config.windows)
    results: dict[str, Any] = {
        "lemmas": random_instances.lemma_gaps(*size),
        "descents": random_instances.descents(*size, config.descent_steps),
        "moving origin": random_instances.counterexample(),
    }
    texts = {each.text: functools.partial(language_task, each) for each in config.language}
    chorales = {"jsb": functools.partial(music_task, config.chorales)} if config.chorales else {}
    results |= {"language": _models(texts, parts), "music": _models(chorales, parts)}
    results["memory"] = memory_tables(config.memory, parts)
    bench.tell("certificates, and pairs of states by gradient ascent")
    results |= {
        "gains": random_instances.certified_gains(config.gain_units, config.gain_draws),
        "lstm gains": random_instances.lstm_gains(config.lstm_units),
        "worst pairs": random_instances.worst_pairs(config.worst_pair_draws),
        "truncated training": _truncated_trainings(config.truncated_training, parts),
    }
    if parts.missing:
        bench.tell(f"left out, and open: {', '.join(parts.missing)}")
    data = _data(config, results)
    drawn = figures(data, results["memory"], sound(results["language"]))
    return Outcome(results=results, data=data, figures=drawn)


def _models(tasks: Mapping[str, Any], parts: Parts) -> Models:
    """Every model of every task whose data is at hand."""
    made = [parts.attempt(name, make) for name, make in tasks.items()]
    found = [train_stable_and_free(task, parts) for task in made if task is not None]
    return {name: draws for models in found for name, draws in models.items()}


def _truncated_trainings(chosen: Language | None, parts: Parts) -> dict[str, Any]:
    """Distances of truncated from full training of language models."""
    found = {}
    if chosen is None:
        return found
    for kind, free in itertools.product(CELLS, (True, False)):
        name = model_name(chosen.text, kind, free)
        make = functools.partial(truncated_training_gap, chosen, kind, free, parts.bench.seed)
        value = parts.get_or_make(f"{name}, truncated and full training", make)
        found |= {} if value is None else {name: value}
    return found


def _data(config: Config, results: Mapping[str, Any]) -> dict[str, xr.Dataset]:
    """The labelled arrays."""
    thin = np.unique(np.geomspace(1, config.descent_steps, 60).astype(int)) - 1
    language, memory = sound(results["language"]), results["memory"]
    data = {
        "lemmas": results["lemmas"],
        "training": results["descents"].isel(step=thin).sel(norm=random_instances.RATE),
        "gains": results["gains"],
        "lstm_gains": results["lstm gains"],
        "cross": _cross(config, language),
    }
    if memory:
        tasks = xr.IndexVariable("task", list(memory))
        tables = [table.drop_attrs() for table in memory.values()]
        data["boundary"] = xr.concat(tables, tasks, join="outer")
    if language:
        data["context"] = context_table(language)
    return data


def _cross(config: Config, models: Mapping[str, Any]) -> xr.Dataset:
    """Rows of the table of all studies: language models, and a cell with a proof."""
    cell = random_instances.draw_cell(0, config.units)
    xs = np.random.default_rng(0).uniform(-1, 1, (1000, cell.input_size))
    top = float(lyapunov_spectrum(cell, xs, k=1).exponents[0])
    name = f"Gaussian tanh, N = {config.units}"
    rows = [Row(network=name, largest_exponent=top, **proved(cell, 1.0))]
    rows += [
        Row(network=f"{name} language model", largest_exponent=m["exponent"], **m["proof"])
        for name, m in models.items()
    ]
    return cross_table(rows)


STUDY = Study(
    name="stable-recurrence",
    document="004",
    title="When a recurrent model need not be recurrent",
    reference=REFERENCES["stable-recurrence"].text,
    claims=CLAIMS,
    profiles={"quick": QUICK, "full": FULL, "words": WORDS},
    run=run,
    cost={
        "quick": "about 90 s of one busy core the first time, most of it compiling; no data beyond "
        "the shipped sonnets",
        "full": "hours: WikiText-2 (33,278 words, 256 units, six epochs), Shakespeare and JSB, from "
        "REMANENCE_DATA or the network; stopped and continued with --time-limit",
        "words": "a day: WikiText-2 alone, twenty epochs",
    },
    headline=Headline(
        claim="004.13",
        number="{window} tokens",
        sentence="of context are enough: a longer past hardly changes what trained language models predict.",
    ),
)
