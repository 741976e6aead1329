"""Sign barriers of the toy over σ, and their prediction on graphs never seen."""

from typing import Any

import jax.random as jr
import numpy as np
import xarray as xr
from scipy.stats import binomtest

from .config import Config
from .language_pairs import circulant_pairs, nested_pairs
from .predict_generalisation import largest_scale
from .sign_barriers import barrier_probability, success_probability
from .toy_alignment import N
from .toy_model import toy_flow, toy_start


RIGHT = 1e-3
"""Test loss below which every pair of a toy is right."""
WANTED = 0.9
LARGER = (0.0, 1.0, 3.0)
"""Decades above the predicted σ at which it is tried."""


def success_over_scale(config: Config, seed: int) -> xr.Dataset:
    """Success of a narrow circulant over σ, with what the linear phase predicts.

    The ranges are Wilson's, of 95 %; the loss before a barrier is where the flow's
    steps ended.
    """
    T = circulant_pairs(N, config.barrier_width)
    rows = []
    for log10_scale in config.barrier_log_scales:
        draws = {"draws": config.barrier_draws, "key": jr.key(seed + 2)}
        fit = toy_flow(toy_start(N, log10_scale=log10_scale, **draws), T)
        stuck, right = fit.loss[fit.barrier], fit.test_loss < RIGHT
        share = binomtest(int(right.sum()), right.size).proportion_ci(method="wilson")
        met = barrier_probability(T, log10_scale=log10_scale, key=jr.key(seed + 3))
        rows.append(
            {
                "success": right.mean(),
                "success_low": share.low,
                "success_high": share.high,
                "barrier": fit.barrier.mean(),
                "predicted": 1.0 - met,
                "barrier_loss": np.median(stuck) if stuck.size else np.nan,
            }
        )
    return xr.Dataset(
        {name: ("log10_scale", [float(row[name]) for row in rows]) for name in rows[0]},
        {"log10_scale": list(config.barrier_log_scales)},
        {"width": config.barrier_width, "draws": config.barrier_draws},
    )


def _unseen_graphs(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """Random graphs from sparse to dense, their fractions, and a key each."""
    keys = jr.split(jr.key(seed), count)
    fractions = np.linspace(0.2, 0.45, count)
    Ts = [
        nested_pairs(N, float(f), key=k, diagonal=False)
        for f, k in zip(fractions, keys, strict=True)
    ]
    return np.stack(Ts), fractions, keys


def _simulated_success(
    Ts: np.ndarray, log10_scales: np.ndarray, draws: int, seed: int
) -> np.ndarray:
    """The share of simulated starts that gets every pair of each T right."""
    each = np.repeat(log10_scales, draws)
    start = toy_start(N, log10_scale=each, draws=each.size, key=jr.key(seed))
    fit = toy_flow(start, np.repeat(Ts, draws, axis=0))
    return (fit.test_loss < RIGHT).reshape(len(Ts), draws).mean(1)


def predicted_success(config: Config, seed: int) -> xr.Dataset:
    """The predicted chance of success against simulation, on graphs never seen.

    Nothing was fitted, so every graph is unseen: a connected one generalises unless its
    signs meet a barrier, a disconnected one besides only by luck of signs.
    """
    Ts, fractions, keys = _unseen_graphs(config.predicted_graphs, seed + 70_004)
    scales = config.predicted_log_scales
    seen = [
        _simulated_success(Ts, np.full(len(Ts), scale), config.predicted_draws, seed + 70_005)
        for scale in scales
    ]
    predicted = [
        [success_probability(T, log10_scale=x, draws=500, key=k) for x in scales]
        for T, k in zip(Ts, keys, strict=True)
    ]
    return xr.Dataset(
        {
            "predicted": (("graph", "log10_scale"), np.array(predicted)),
            "seen": (("graph", "log10_scale"), np.stack(seen, axis=1)),
            "fraction": ("graph", fractions),
        },
        {"log10_scale": list(scales)},
    )


def predicted_scales(config: Config, seed: int) -> xr.Dataset:
    """The largest σ predicted to succeed nine times in ten, tried there and above.

    NaN where no σ would do, and above σ = 1, where there is no small start.
    """
    Ts, fractions, keys = _unseen_graphs(config.predicted_graphs, seed + 70_006)
    largest = np.array(
        [largest_scale(T, wanted=WANTED, draws=500, key=k) for T, k in zip(Ts, keys, strict=True)]
    )
    predicted = np.full((len(Ts), len(LARGER)), np.nan)
    seen = predicted.copy()
    for j, decades in enumerate(LARGER):
        tried = np.flatnonzero(np.isfinite(largest) & (largest + decades <= 0.0))
        if not tried.size:
            continue
        scales = largest + decades
        seen[tried, j] = _simulated_success(
            Ts[tried], scales[tried], config.predicted_draws, seed + 70_007
        )
        for i in tried:
            predicted[i, j] = success_probability(
                Ts[i], log10_scale=float(scales[i]), draws=500, key=keys[i]
            )
    return xr.Dataset(
        {
            "largest_log10_scale": ("graph", largest),
            "predicted": (("graph", "decades_above"), predicted),
            "seen": (("graph", "decades_above"), seen),
            "fraction": ("graph", fractions),
        },
        {"decades_above": list(LARGER)},
        {"wanted": WANTED},
    )
