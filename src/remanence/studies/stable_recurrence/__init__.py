"""Document 004: when a recurrent model need not be recurrent."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr

from ...cells import dimension, LSTM
from ...measure import contraction, truncation_window
from ...report import Bench, Outcome, Study
from ...report.cross import cross_table, Row
from ...train.projection import INPUT_BOUND
from . import boundary, figures, instances, ladder, language
from .config import Config, SHAKESPEARE, SONNETS, WIKITEXT
from .peer import trained_peer
from .statements import STATEMENTS


FREE_NORM = 2.0
"""The spectral norm that the arbitrary instances of statement 7 start from."""


def run(config: Config, bench: Bench) -> Outcome:
    """All experiments that the configuration asks for."""
    evidence: dict[str, Any] = {}
    data: dict[str, Any] = {}
    drawn: list[Any] = []
    _theory(config, bench, evidence, data, drawn)
    _certificates(config, bench, evidence, data, drawn)
    _memory(config, bench, evidence, data, drawn)
    models = _language(config, bench, evidence, data, drawn)
    if config.music_steps:
        from .chorales import chorales

        bench.tell("chorales, stable and free")
        found = chorales(
            config.music_units, config.music_steps, (1, 2, 4, 8, 16), bench
        )
        evidence["004.5"]["jsb_nll"] = {k: _short(v["nll"]) for k, v in found.items()}
        data["music"] = _as_table(found, "nll")
    if config.adding_steps and "004.13" in evidence:
        bench.tell("the adding problem over its last inputs")
        windows = (2, 5, 10, config.adding_length)
        found = boundary.added(
            config.adding_length,
            steps=config.adding_steps,
            seed=bench.seed,
            windows=windows,
        )
        evidence["004.13"] |= {
            "adding_window": _short(found["truncated"][2]),
            "adding_full": _short(found["full"]),
        }
    data["cross"] = _cross(config, models)
    return Outcome(evidence, data, tuple(drawn))


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def _theory(config: Config, bench: Bench, evidence, data, drawn) -> None:
    bench.tell("lemmas on random Gaussian instances")
    size = (config.units, config.instances, config.length, config.windows)
    table = instances.lemmas(*size)
    moving = instances.counterexample()
    state = table["state"] / np.minimum(table["state_bound"], table["state_bound_full"])
    evidence["004.1"] = {
        "largest_ratio": _short(float(state.max())),
        **{f"moving_{name}": value for name, value in moving.items()},
    }
    gradient = np.log(table["gradient"].mean("instance").values)
    evidence["004.2"] = {
        "largest_ratio": _short(
            float((table["gradient"] / table["gradient_bound"]).max())
        ),
        "slope": _short(_slope(config.windows, gradient)),
        "log_rate": _short(math.log(0.8)),
    }
    bench.tell("projected descent, truncated and full")
    norms = (instances.RATE, FREE_NORM)
    both = instances.descents(*size, config.descent_steps, norms)
    steps, wild = (both.sel(norm=norm) for norm in norms)
    ratio = (steps["gap"] / steps["bound"].where(steps["bound"] > 0)).max(
        ("instance", "window", "step")
    )
    # The claim without 1/t: the gap of constant steps against the bound for alpha/t.
    over = steps["gap"].sel(schedule="constant") / steps["bound"].sel(
        schedule="alpha/t"
    )
    evidence["004.3"] = {
        "decaying_ratio": _short(float(ratio.sel(schedule="alpha/t"))),
        "constant_ratio": _short(float(ratio.sel(schedule="constant"))),
        "constant_over_bound": _short(float(over.isel(step=-1).max())),
    }
    parted = np.log(
        steps["output_gap"].sel(schedule="alpha/t").mean("instance").values + 1e-15
    )
    evidence["004.4"] = {
        "slope": _short(_slope(config.windows, parted)),
        "log_rate": _short(math.log(instances.RATE)),
    }
    apart = lambda table: float(
        (table["gap"].isel(window=-1, step=-1) / table["moved"].isel(step=-1)).max()
    )
    evidence["004.7"] = {
        "stable_apart": _short(apart(steps)),
        "free_apart": _short(apart(wild)),
        "norm": FREE_NORM,
    }
    thin = np.unique(np.geomspace(1, config.descent_steps, 60).astype(int)) - 1
    data |= {"lemmas": table, "training": steps.isel(step=thin), "training_free": wild.isel(step=thin)}  # fmt: skip
    drawn += [figures.lemma_figure(table), figures.descent_figure(data["training"])]


def _slope(windows, logs) -> float:
    seen = np.asarray(logs) > math.log(1e-12)
    return float(np.polyfit(np.asarray(windows)[seen], np.asarray(logs)[seen], 1)[0])


def _certificates(config: Config, bench: Bench, evidence, data, drawn) -> None:
    table = ladder.certified_gains(
        config.ladder_units, config.ladder_kinds, config.ladder_draws, bench.tell
    )
    gauss = table["gain"].sel(kind="gaussian", units=config.ladder_units[-1])
    mean = gauss.mean("draw")
    evidence["004.8"] = {
        "units": int(config.ladder_units[-1]),
        **{
            name: _short(float(mean.sel(rung=name)))
            for name in ("norm", "diagonal", "full")
        },
        "limit": _short(float(mean.sel(rung="limit"))),
    }
    room = 1 - table["gain"].sel(rung="full") / table["gain"].sel(rung="limit")
    room = room.sel(kind="gaussian")
    evidence["004.9"] = {
        "mean_room": _short(float(room.mean())),
        "smallest_room": _short(float(room.min())),
        "largest_room": _short(float(room.max())),
    }
    bench.tell("LSTM certificates")
    gains = ladder.lstm_gains(config.lstm_units)
    evidence["004.10"] = {
        "units": list(config.lstm_units),
        "paper": [_short(v) for v in gains["gain"].sel(condition="paper").values],
        "comparison": [
            _short(v) for v in gains["gain"].sel(condition="comparison").values
        ],
    }
    bench.tell("twins by gradient ascent")
    pairs = ladder.twins(config.twin_draws)
    evidence["004.11"] = {
        "nearest": _short(max(row["twin"] / row["rate"] for row in pairs)),
        "cells": len(pairs),
    }
    data |= {"ladder": table, "lstm_gains": gains}
    drawn.append(figures.ladder_figure(table))


def _memory(config: Config, bench: Bench, evidence, data, drawn) -> None:
    bench.tell("a symbol after a delay, stable and free")
    table = boundary.copied(
        config.delays, steps=config.copy_steps, rate=config.copy_rate, seed=bench.seed
    )
    stable = table["loss"].sel(model="stable")
    evidence["004.12"] = {
        "delay": int(config.delays[-1]),
        "stable_last": _short(float(stable[-1])),
        "free_last": _short(float(table["loss"].sel(model="free")[-1])),
        "floor_last": _short(float(table["floor"][-1])),
        "chance": _short(table.attrs["chance"]),
        # Test batches are drawn: a few thousandths below the floor are their noise.
        "least_excess": _short(float((stable - table["floor"]).min()) + 0.01),
    }
    data["boundary"] = table
    drawn.append(figures.boundary_figure(table))


def _language(config: Config, bench: Bench, evidence, data, drawn) -> dict[str, Any]:
    found: dict[str, dict] = {}
    nets: dict[str, Any] = {}
    peers: dict[str, dict] = {}
    for each in config.language:
        text = language.text_of(each)
        rows = language.held_out(each, text)
        for kind in each.kinds:
            for free in (True, False):
                name = f"{each.text} {kind} {'free' if free else 'stable'}"
                bench.tell(f"{name}: train, then measure")
                net = language.trained_model(each, text, kind, free, bench)
                found[name] = language.measured(each, net, rows)
                nets[name] = net
        if each.peer_widths:
            bench.tell(f"{each.text}: gated convolutions of equal size")
            short = jnp.asarray(rows[:2, :201])
            tokens = len(text.vocabulary)
            peers[f"{each.text} convolution"] = {
                "widths": list(each.peer_widths),
                "beside": f"{each.text} rnn free",
                "perplexity": [
                    math.exp(
                        float(
                            language.evaluated(
                                trained_peer(
                                    each, text.train, tokens, width, seed=bench.seed
                                ),
                                short,
                            )
                        )
                    )
                    for width in each.peer_widths
                ],
            }
    if not found:
        return {}
    evidence["004.5"] = {
        "perplexity": {k: _short(v["perplexity"]) for k, v in found.items()}
    }
    free = {name: v for name, v in found.items() if name.endswith("free")}
    evidence["004.6"] = {
        "models": list(free),
        "exponents": [_short(v["exponent"]) for v in free.values()],
        "stderrs": [_short(v["stderr"]) for v in free.values()],
        "decay_20": [_short(v["decay"][20] / v["decay"][0]) for v in free.values()],
    }
    at = {name: _near(v["windows"], 20) for name, v in found.items()}
    evidence["004.13"] = {
        "window": int(max(found[name]["windows"][i] for name, i in at.items())),
        "worst_loss": _short(
            max(
                v["truncated"][at[name]] / v["untruncated"] for name, v in found.items()
            )
        ),
        "peers": {k: [_short(p) for p in v["perplexity"]] for k, v in peers.items()},
    }
    data["language"] = _as_table(found, "perplexity")
    drawn += [figures.decay_figure(found), figures.context_figure(found, peers)]
    return {name: (net, found[name]) for name, net in nets.items()}


def _near(windows, context: int) -> int:
    """The last window that is no longer than the context."""
    return max(i for i, k in enumerate(windows) if k <= context)


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
    rows = []
    cell = instances.drawn(0, config.units)
    proof = contraction(cell, input_bound=1.0, time_limit=600)
    rows.append(
        Row(
            network=f"Gaussian tanh, N = {config.units}",
            dimension=config.units,
            certified_rate=proof.rate,
            window=truncation_window(proof, error=1e-3),
        )
    )
    for name, (net, found) in models.items():
        gated = isinstance(net.cell, LSTM)
        bound = (
            INPUT_BOUND
            if name.endswith("stable")
            else float(jnp.abs(net.embedding).max())
        )
        proof = contraction(
            net.cell,
            input_bound=bound,
            metric="auto" if gated else "diagonal",
            time_limit=600,
        )
        exponent = found["exponent"]
        rows.append(
            Row(
                network=f"{name} language model",
                dimension=dimension(net.cell),
                largest_exponent=exponent,
                horizon=math.inf if exponent >= 0 else -1 / exponent,
                certified_rate=proof.rate if math.isfinite(proof.rate) else None,
                window=None if proof.vacuous else truncation_window(proof, error=1e-3),
            )
        )
    return cross_table(rows)


STUDY = Study(
    name="stable-recurrence",
    document="004",
    title="When a recurrent model need not be recurrent",
    reference="Miller & Hardt 2018, When Recurrent Models Don't Need to be Recurrent (slides: O. Voinov)",
    statements=STATEMENTS,
    profiles={
        "quick": Config(language=(SONNETS,)),
        "full": Config(
            units=16,
            instances=3,
            length=60,
            windows=(2, 5, 10, 20, 40),
            descent_steps=400,
            ladder_units=(8, 16, 24, 48),
            lstm_units=(16, 64),
            twin_draws=2,
            language=(SHAKESPEARE, WIKITEXT),
            music_steps=200,
            delays=(1, 2, 4, 8, 12, 16, 24),
            copy_steps=800,
            adding_steps=1500,
        ),
    },
    run=run,
    cost={
        "quick": "about a minute; no data beyond the shipped sonnets",
        "full": "about ten minutes idle; Shakespeare, WikiText-2 (2,000 words, 250 steps) and "
        "JSB, from REMANENCE_DATA or the network; longer recipes are kept and not run",
    },
)
