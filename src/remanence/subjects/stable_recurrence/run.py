"""The experiments in the order of their weight; what there is no time for is left out and said."""

import math
from typing import Any

import numpy as np
import xarray as xr

from ...measure import contraction, lyapunov_spectrum, truncation_window
from ...report import Bench, Outcome
from ...report.cross import cross_table, Row
from . import figures, instances
from .apart import trained_apart
from .certificates import certificates
from .config import Config
from .context import (
    judge,
    language_models,
    music_models,
    music_peers,
    named,
    other_draws,
    PAIRS,
    sums,
    text_peers,
)
from .memory import memory
from .parts import Parts
from .theory import short, theory


def run(config: Config, bench: Bench) -> Outcome:
    """All experiments that the configuration asks for."""
    evidence: dict[str, Any] = {}
    data: dict[str, Any] = {}
    parts = Parts(bench)
    drawn = theory(config, bench, evidence, data)
    models = language_models(config, parts, words=False)
    models |= language_models(config, parts, words=True)
    music = music_models(config, parts)
    drawn += memory(config, parts, evidence, data)
    adding = sums(config, parts)
    drawn += certificates(config, bench, evidence, data)
    drawn += _apart(config, parts, evidence, data)
    peers = text_peers(config, parts, words=False) | music_peers(config, parts)
    peers |= text_peers(config, parts, words=True)
    scores = other_draws(config, parts, models)
    drawn += judge(models, scores, music, peers, adding, evidence)
    for name, found, score in (
        ("language", models, "perplexity"),
        ("music", music, "nll"),
    ):
        if sound := {k: v for k, v in found.items() if "diverged" not in v}:
            data[name] = _as_table(sound, score)
    data["cross"] = _cross(config, models)
    if parts.missing:
        bench.tell(f"left out, and open: {', '.join(parts.missing)}")
    return Outcome(evidence=evidence, data=data, figures=tuple(drawn))


def _apart(config: Config, parts: Parts, evidence: dict, data: dict) -> list[Any]:
    """Statement 7 on text, beside the random instances."""
    chosen = config.twins
    if chosen is None:
        return []
    found = {}
    for kind, free in PAIRS:
        make = lambda kind=kind, free=free: trained_apart(
            chosen, kind, free, parts.bench.seed
        )
        name = named(chosen.text, kind, free)
        value = parts.kept(f"{name}, truncated and full training", make)
        if value is not None:
            found[name] = value
    if not found:
        return []
    evidence["004.7"]["text"] = {
        name: [short(v) for v in value["relative"]] for name, value in found.items()
    }
    evidence["004.7"]["text_windows"] = list(chosen.windows)
    evidence["004.7"]["text_length"] = chosen.length
    first = next(iter(found.values()))
    data["apart"] = xr.Dataset(
        {
            "gap": (("model", "window", "step"), [v["gap"] for v in found.values()]),
            "moved": (("model", "step"), [v["moved"] for v in found.values()]),
        },
        {
            "model": list(found),
            "window": first["windows"],
            "step": first["steps"],
        },
    )
    return [figures.apart_figure(data["apart"])]


def _as_table(found: dict[str, dict], score: str) -> xr.Dataset:
    """Scores of the models; losses of truncations one row each, windows differ by text."""
    rows = [
        (name, k, value)
        for name, v in found.items()
        for k, value in zip(v["windows"], v["truncated"], strict=True)
    ]
    names, ks, values = zip(*rows, strict=True)
    return xr.Dataset(
        {
            score: ("model", [v[score] for v in found.values()]),
            "truncated": ("row", list(values)),
            "truncated_model": ("row", list(names)),
            "window": ("row", list(ks)),
        },
        {"model": list(found)},
    )


def _cross(config: Config, models: dict[str, Any]) -> xr.Dataset:
    """Rows of the front page's table: language models, and a cell with a proof."""
    cell = instances.drawn(0, config.units)
    proof = contraction(cell, input_bound=1.0, time_limit=600)
    heard = np.random.default_rng(0).uniform(-1, 1, (1000, cell.input_size))
    top = float(lyapunov_spectrum(cell, heard, k=1).exponents[0])
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
        if "diverged" in model:
            continue
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
