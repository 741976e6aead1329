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
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...measure import contraction, lyapunov_spectrum, truncation_window
from ...report import Bench, cross_table, Headline, Outcome, Row, Study
from ..references import REFERENCES
from . import certified_gains, figures, random_instances
from .claims import CLAIMS
from .claims.models import sound
from .config import Config, FULL, QUICK, WORDS
from .language_models import language_task
from .memory_tasks import adding_problem, delayed_symbol, string_recall
from .model_figures import context_figure, context_table, decay_figure, truncated_training_figure
from .music_models import music_task
from .parts import Parts
from .train_stable_and_free import CELLS, model_name, Models, train_stable_and_free
from .truncated_training import truncated_training_gap


FREE_NORM = 2.0
"""The spectral norm that the arbitrary instances of claim 004.7 start from."""


def run(config: Config, bench: Bench) -> Outcome:
    """All experiments that the configuration asks for, in the order of their weight.

    What there is no time for is left out, and said.
    """
    parts = Parts(bench)
    results: dict[str, Any] = {
        **_instances(config, bench),
        "language": _models(language_task, config.language, parts),
        "music": _models(music_task, config.music, parts),
    }
    if memory := _memory(config, parts):
        results["memory"] = memory
    results |= _certificates(config, bench)
    results["truncated training"] = _truncated_trainings(config, parts)
    if parts.missing:
        bench.tell(f"left out, and open: {', '.join(parts.missing)}")
    data = _data(config, results)
    return Outcome(results=results, data=data, figures=_figures(results, data))


def _instances(config: Config, bench: Bench) -> dict[str, Any]:
    """Lemmas and descents on random Gaussian instances."""
    bench.tell("lemmas and projected descent on random Gaussian instances")
    seeds = range(1_000 * bench.seed, 1_000 * bench.seed + config.instances)
    size = (config.units, seeds, config.length, config.windows)
    norms = (random_instances.RATE, FREE_NORM)
    return {
        "lemmas": random_instances.lemma_gaps(*size),
        "descents": random_instances.descents(*size, config.descent_steps, norms),
        "moving origin": random_instances.counterexample(),
    }


def _models(task_of: Callable, chosen: Sequence[Any], parts: Parts) -> Models:
    """Every model of every task whose data is at hand."""
    made = [parts.attempt(each.text, functools.partial(task_of, each)) for each in chosen]
    found = [train_stable_and_free(task, parts) for task in made if task is not None]
    return {name: draws for models in found for name, draws in models.items()}


def _memory(config: Config, parts: Parts) -> dict[str, xr.Dataset]:
    """Losses of stable and free models on tasks that need memory, over the length."""
    asked = {
        "delayed symbol": (delayed_symbol, config.symbols),
        "memorised string": (string_recall, config.strings),
        "adding problem": (adding_problem, config.sums),
    }
    tables = {name: train(lengths, parts) for name, (train, lengths) in asked.items() if lengths}
    return {name: table for name, table in tables.items() if table is not None}


def _certificates(config: Config, bench: Bench) -> dict[str, Any]:
    """Largest certified gains beside their limit, the LSTM's, and worst pairs."""
    sizes = (config.gain_units, config.gain_kinds, config.gain_draws)
    found: dict[str, Any] = {"gains": certified_gains.certified_gains(*sizes, bench.tell)}
    bench.tell("LSTM certificates, and pairs of states by gradient ascent")
    found["lstm gains"] = certified_gains.lstm_gains(config.lstm_units)
    found["worst pairs"] = certified_gains.worst_pairs(config.worst_pair_draws)
    return found


def _truncated_trainings(config: Config, parts: Parts) -> dict[str, Any]:
    """Distances of truncated from full training of language models."""
    found = {}
    for each, kind, free in itertools.product(config.truncated_training, CELLS, (True, False)):
        name = model_name(each.text, kind, free)
        make = functools.partial(truncated_training_gap, each, kind, free, parts.bench.seed)
        value = parts.get_or_make(f"{name}, truncated and full training", make)
        found |= {} if value is None else {name: value}
    return found


def _data(config: Config, results: Mapping[str, Any]) -> dict[str, xr.Dataset]:
    """The labelled arrays."""
    thin = np.unique(np.geomspace(1, config.descent_steps, 60).astype(int)) - 1
    descents = results["descents"].isel(step=thin)
    data = {
        "lemmas": results["lemmas"],
        "training": descents.sel(norm=random_instances.RATE),
        "training_free": descents.sel(norm=FREE_NORM),
        "gains": results["gains"],
        "lstm_gains": results["lstm gains"],
    }
    for name, table in results.get("memory", {}).items():
        data[f"boundary_{name.split()[-1]}"] = table
    if models := sound({**results["language"], **results["music"]}):
        data["context"] = context_table(models)
    if found := results["truncated training"]:
        first = next(iter(found.values()))
        gaps, moved = ([v[name] for v in found.values()] for name in ("gap", "moved"))
        data["truncated_training"] = xr.Dataset(
            {"gap": (("model", "window", "step"), gaps), "moved": (("model", "step"), moved)},
            {"model": list(found), "window": first["windows"], "step": first["steps"]},
        )
    data["cross"] = _cross(config, sound(results["language"]))
    return data


def _cross(config: Config, models: Mapping[str, Any]) -> xr.Dataset:
    """Rows of the table of all studies: language models, and a cell with a proof."""
    cell = random_instances.draw_cell(0, config.units)
    proof = contraction(cell, input_bound=1.0, time_limit=600)
    xs = np.random.default_rng(0).uniform(-1, 1, (1000, cell.input_size))
    top = float(lyapunov_spectrum(cell, xs, k=1).exponents[0])
    rows = [
        Row(
            network=f"Gaussian tanh, N = {config.units}",
            dimension=config.units,
            largest_exponent=top,
            horizon=-1 / top,
            certified_rate=proof.rate,
            window=truncation_window(proof, error=1e-3),
            rank=int(np.linalg.matrix_rank(np.asarray(cell.W_h))),
        )
    ]
    for name, model in models.items():
        exponent, found = model["exponent"], model["proof"]
        rows.append(
            Row(
                network=f"{name} language model",
                dimension=found["dimension"],
                largest_exponent=exponent,
                horizon=math.inf if exponent >= 0 else -1 / exponent,
                certified_rate=found["rate"],
                window=found["window"],
                rank=found["rank"],
            )
        )
    return cross_table(rows)


def _figures(results: Mapping[str, Any], data: Mapping[str, xr.Dataset]) -> tuple:
    drawn = [
        figures.lemma_figure(data["lemmas"]),
        figures.descent_figure(data["training"]),
        figures.gains_figure(data["gains"]),
    ]
    if "memory" in results:
        drawn.append(figures.memory_figure(results["memory"]))
    if "truncated_training" in data:
        drawn.append(truncated_training_figure(data["truncated_training"]))
    if models := sound(results["language"]):
        drawn.append(decay_figure(models))
        drawn.append(context_figure(models | sound(results["music"])))
    return tuple(drawn)


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
        "the shipped sonnets, no convolutions",
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
