"""Experiment 1: evidence for the lemmas, Proposition 2, Theorem 1 and statement 7."""

import math
from typing import Any

import numpy as np

from ...report import Bench
from . import figures, instances
from .config import Config


FREE_NORM = 2.0
"""The spectral norm that the arbitrary instances of statement 7 start from."""


def short(value: float) -> float:
    """Five digits: what evidence shows."""
    return float(f"{value:.5g}")


def theory(config: Config, bench: Bench, evidence: dict, data: dict) -> list[Any]:
    """Gaps and bounds on random Gaussian instances; the figures."""
    bench.tell("lemmas on random Gaussian instances")
    size = (config.units, config.instances, config.length, config.windows)
    table = instances.lemmas(*size)
    moving = instances.counterexample()
    state = table["state"] / np.minimum(table["state_bound"], table["state_bound_full"])
    evidence["004.1"] = {
        "largest_ratio": short(float(state.max())),
        **{f"moving_{name}": value for name, value in moving.items()},
    }
    gradient = np.log(table["gradient"].mean("instance").values)
    evidence["004.2"] = {
        "largest_ratio": short(
            float((table["gradient"] / table["gradient_bound"]).max())
        ),
        "slope": short(_slope(config.windows, gradient)),
        "log_rate": short(math.log(0.8)),
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
        "decaying_ratio": short(float(ratio.sel(schedule="alpha/t"))),
        "constant_ratio": short(float(ratio.sel(schedule="constant"))),
        "constant_over_bound": short(float(over.isel(step=-1).max())),
    }
    parted = np.log(
        steps["output_gap"].sel(schedule="alpha/t").mean("instance").values + 1e-15
    )
    evidence["004.4"] = {
        "slope": short(_slope(config.windows, parted)),
        "log_rate": short(math.log(instances.RATE)),
    }
    apart = lambda table: float(
        (table["gap"].isel(window=-1, step=-1) / table["moved"].isel(step=-1)).max()
    )
    evidence["004.7"] = {
        "stable_apart": short(apart(steps)),
        "free_apart": short(apart(wild)),
        "norm": FREE_NORM,
    }
    thin = np.unique(np.geomspace(1, config.descent_steps, 60).astype(int)) - 1
    data |= {
        "lemmas": table,
        "training": steps.isel(step=thin),
        "training_free": wild.isel(step=thin),
    }
    return [figures.lemma_figure(table), figures.descent_figure(data["training"])]


def _slope(windows, logs) -> float:
    seen = np.asarray(logs) > math.log(1e-12)
    return float(np.polyfit(np.asarray(windows)[seen], np.asarray(logs)[seen], 1)[0])
