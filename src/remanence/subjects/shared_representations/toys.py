"""Experiments 4b, 5 and 7: walls of the toy, their predictor, and the race."""

from typing import Any

import jax.random as jr
import numpy as np
import xarray as xr
from scipy.stats import binomtest

from .aligned import N
from .config import Config
from .connectivity import connectivity
from .language_pairs import circulant_pairs, nested_pairs
from .predict_generalisation import largest_scale
from .race_reduction import race_reduction, race_simulation
from .sign_barriers import success_probability, wall_probability
from .toy_model import toy_flow, toy_start


STRENGTHS = np.array([13.60, 6.40, 3.0, 3.0])
DOMAINS, TAUGHT = 7, 4
RIGHT = 1e-3
"""Test loss below which every pair of a toy is right."""
WANTED = 0.9
LARGER = (0.0, 1.0, 3.0)
"""Decades above the foretold σ at which it is tried."""


def walls(config: Config, seed: int) -> xr.Dataset:
    """Success of a narrow circulant over σ, with what the linear phase foretells.

    The ranges are Wilson's, of 95 %; a wall's loss is where the flow's steps ended.
    """
    T = circulant_pairs(N, config.wall_width)
    rows = []
    for log10_scale in config.wall_log_scales:
        start = toy_start(
            N, log10_scale=log10_scale, draws=config.wall_draws, key=jr.key(seed + 2)
        )
        fit = toy_flow(start, T, log10_scale=log10_scale)
        stuck, right = fit.loss[fit.wall], fit.test_loss < RIGHT
        counted = binomtest(int(right.sum()), right.size).proportion_ci(method="wilson")
        rows.append(
            (
                float(right.mean()),
                counted.low,
                counted.high,
                float(fit.wall.mean()),
                1.0
                - wall_probability(T, log10_scale=log10_scale, key=jr.key(seed + 3)),
                float(np.median(stuck)) if stuck.size else np.nan,
            )
        )
    names = ("success", "success_low", "success_high", "wall", "foretold", "wall_loss")
    return xr.Dataset(
        {
            n: ("log10_scale", np.array(c))
            for n, c in zip(names, zip(*rows, strict=True), strict=True)
        },
        {"log10_scale": list(config.wall_log_scales)},
        {"width": config.wall_width, "draws": config.wall_draws},
    )


def _unseen(graphs: int, seed: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """Random graphs from sparse to dense, their fractions, and a key each."""
    keys = jr.split(jr.key(seed), graphs)
    fractions = np.linspace(0.2, 0.45, graphs)
    Ts = [
        nested_pairs(N, float(f), key=k, diagonal=False)
        for f, k in zip(fractions, keys, strict=True)
    ]
    return np.stack(Ts), fractions, keys


def _shares(Ts: np.ndarray, log10_scales: np.ndarray, draws: int, seed: int):
    """The share of simulated starts that gets every pair of each T right."""
    each = np.repeat(log10_scales, draws)
    start = toy_start(N, log10_scale=each, draws=each.size, key=jr.key(seed))
    fit = toy_flow(start, np.repeat(Ts, draws, axis=0), log10_scale=each)
    return (fit.test_loss < RIGHT).reshape(len(Ts), draws).mean(1)


def predictor(config: Config, seed: int) -> xr.Dataset:
    """The predictor's chance of success against simulation, on graphs it never saw.

    Nothing in it was fitted, so every graph is unseen: a connected one generalises
    unless its signs meet a wall, a disconnected one besides only by luck of signs.
    """
    Ts, fractions, keys = _unseen(config.predicted_graphs, seed + 70_004)
    foretold = np.zeros((len(Ts), len(config.predicted_log_scales)))
    seen = np.zeros_like(foretold)
    for j, log10_scale in enumerate(config.predicted_log_scales):
        seen[:, j] = _shares(
            Ts,
            np.full(len(Ts), log10_scale),
            config.predicted_draws,
            seed + 70_005,
        )
        for i, T in enumerate(Ts):
            foretold[i, j] = success_probability(
                T, log10_scale=log10_scale, draws=500, key=keys[i]
            )
    graphs = [connectivity(T) for T in Ts]
    return xr.Dataset(
        {
            "foretold": (("graph", "log10_scale"), foretold),
            "seen": (("graph", "log10_scale"), seen),
            "connected": ("graph", np.array([float(g.connected) for g in graphs])),
            "gap": ("graph", np.array([g.gap for g in graphs])),
            "fraction": ("graph", fractions),
        },
        {"log10_scale": list(config.predicted_log_scales)},
    )


def foretold_scales(config: Config, seed: int) -> xr.Dataset:
    """The largest σ foretold to succeed nine times in ten, tried there and above.

    NaN where no σ would do, and above σ = 1, where there is no small start.
    """
    Ts, fractions, keys = _unseen(config.predicted_graphs, seed + 70_006)
    told = np.array(
        [
            largest_scale(T, wanted=WANTED, draws=500, key=k)
            for T, k in zip(Ts, keys, strict=True)
        ]
    )
    foretold = np.full((len(Ts), len(LARGER)), np.nan)
    seen = foretold.copy()
    for j, decades in enumerate(LARGER):
        tried = np.flatnonzero(np.isfinite(told) & (told + decades <= 0.0))
        if not tried.size:
            continue
        seen[tried, j] = _shares(
            Ts[tried], told[tried] + decades, config.predicted_draws, seed + 70_007
        )
        for i in tried:
            foretold[i, j] = success_probability(
                Ts[i], log10_scale=told[i] + decades, draws=500, key=keys[i]
            )
    return xr.Dataset(
        {
            "told_log10_scale": ("graph", told),
            "foretold": (("graph", "decades_above"), foretold),
            "seen": (("graph", "decades_above"), seen),
            "fraction": ("graph", fractions),
        },
        {"decades_above": list(LARGER)},
        {"wanted": WANTED},
    )


def race(config: Config) -> xr.Dataset:
    """Theory, the whole network from an aligned start, and random small starts."""
    time = np.linspace(0.0, 1.5, 46)
    theory = race_reduction(
        STRENGTHS, domains=DOMAINS, taught=TAUGHT, start=0.05, time=time
    )
    network = race_simulation(
        np.diag(STRENGTHS),
        domains=DOMAINS,
        taught=TAUGHT,
        units=4,
        start=0.05,
        time=time,
    )
    drawn = [
        race_simulation(
            np.diag(STRENGTHS),
            domains=DOMAINS,
            taught=TAUGHT,
            units=6,
            start=0.02,
            time=np.linspace(0.0, 8.0, 2),
            seed=seed,
            rtol=1e-5,
        ).b2[-1]
        for seed in range(config.race_seeds)
    ]
    return xr.Dataset(
        {
            "theory": (("time", "mode"), theory.b2),
            "network": (("time", "mode"), network.b2),
            "conserved": (("time", "mode"), theory.conserved(DOMAINS)),
            "conserved_network": (("time", "mode"), network.conserved(DOMAINS)),
            "drawn": (("seed", "mode"), np.array(drawn)),
            "cube_root": ("mode", (DOMAINS * STRENGTHS) ** (1 / 3)),
        },
        {"time": time, "mode": STRENGTHS},
    )
