"""The toy over σ: how well it aligns and when, its sign barriers, and their prediction."""

from collections.abc import Callable, Sequence
from typing import Any

import jax.random as jr
import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.stats import binomtest

from .config import Config
from .language_pairs import circulant_pairs, connectivity, nested_pairs
from .sign_barriers import barrier_probability, largest_scale, needed_scale, success_probability
from .toy_model import toy_flow, toy_start


N, WIDTH = 10, 2  # the toy's languages, and the width of the circulant whose barriers are counted
# At 1e-6 the flow overshoots half loss by so much that contamination scatters by a fifth.
PRECISE = {"rtol": 1e-10, "attempts": 20_000}
RIGHT = 1e-3  # test loss below which every pair of a toy is right
WANTED = 0.9
LARGER = (0.0, 1.0, 3.0)  # decades above the predicted σ at which it is tried
GUESSES = 500  # starts of the linear phase behind a prediction


def log_second_mode(
    u: Float[np.ndarray, "draws n"], T: Float[np.ndarray, "n n"]
) -> Float[np.ndarray, " draws"]:
    """Log of the part of `u` in the space of σ2 of `T`, over its part in the top mode."""
    U, S, _ = np.linalg.svd(T)
    second = U[:, 1:][:, np.isclose(S[1:], S[1])]
    return np.log(np.linalg.norm(u @ second, axis=1) / np.abs(u @ U[:, 0]))


def _of_width(width: int, config: Config, seed: int) -> dict[str, Any]:
    T, draws = circulant_pairs(N, width), config.aligned_draws
    scales = np.array([needed_scale(T, left) for left in config.toy_contaminations])
    starts = [toy_start(N, log10_scale=x, draws=draws, key=jr.key(seed)) for x in scales.tolist()]
    ends = [toy_flow(start, T, stop=0.25 * T.sum(), **PRECISE).state for start in starts]
    second = np.stack([log_second_mode(np.asarray(end.direction[0]), T) for end in ends])
    # The slope of each draw: they are paired along σ.
    exponent = np.polyfit(scales * np.log(10), second, 1)[0]
    return {
        "log10_scale": scales,
        "second_mode": np.exp(second.mean(axis=1)),
        "second_mode_log_stderr": second.std(axis=1, ddof=1) / draws**0.5,
        "exponent": exponent.mean(),
        "exponent_stderr": exponent.std(ddof=1) / draws**0.5,
        "law": 1.0 - connectivity(T).gap,
    }


def alignment(config: Config, seed: int) -> xr.Dataset:
    r"""Contamination at half loss over σ and widths, and the exponent of the second mode, measured
    where the law $\epsilon = \sigma^{1-\sigma_2/\sigma_1}$ predicts more than rounding."""
    rows = [_of_width(width, config, seed) for width in config.toy_widths]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return xr.Dataset(
        {name: (("width", "predicted")[: values.ndim], values) for name, values in columns.items()},
        {"width": list(config.toy_widths), "predicted": list(config.toy_contaminations)},
    )


def times_to_half_loss(config: Config, seed: int) -> xr.Dataset:
    """When half the loss is gone: two factors and three, over σ."""
    T, scales = circulant_pairs(N, 5), list(config.toy_log_scales)
    draws = {"draws": config.toy_draws, "key": jr.key(seed + 1)}

    def median_time(factors: int, log10_scale: float) -> float:
        start = toy_start(N, log10_scale=log10_scale, factors=factors, **draws)
        return float(np.median(toy_flow(start, T, stop=0.25 * T.sum()).state.time))

    time = [[median_time(factors, x) for x in scales] for factors in (2, 3)]
    return xr.Dataset(
        {"time": (("factors", "log10_scale"), np.array(time))},
        {"factors": [2, 3], "log10_scale": scales},
        {"unit": "t for two factors, t times sigma for three"},
    )


def success_over_scale(config: Config, seed: int) -> xr.Dataset:
    """Success of a narrow circulant over σ (95 % Wilson ranges), and what the linear phase predicts."""
    T, rows = circulant_pairs(N, WIDTH), []
    for log10_scale in config.barrier_log_scales:
        draws = {"draws": config.barrier_draws, "key": jr.key(seed + 2)}
        right = toy_flow(toy_start(N, log10_scale=log10_scale, **draws), T).test_loss < RIGHT
        share = binomtest(int(right.sum()), right.size).proportion_ci(method="wilson")
        met = barrier_probability(T, log10_scale=log10_scale, key=jr.key(seed + 3))
        rows.append((right.mean(), share.low, share.high, 1.0 - met))
    names = ("success", "success_low", "success_high", "predicted")
    return xr.Dataset(
        {n: ("log10_scale", column) for n, column in zip(names, np.transpose(rows), strict=True)},
        {"log10_scale": list(config.barrier_log_scales)},
        {"width": WIDTH, "draws": config.barrier_draws},
    )


def _predictions(
    config: Config, seed: int, axis: str, places: Sequence[float], start_at: Callable[..., float]
) -> xr.Dataset:
    """The chance that every pair of unseen graphs, from sparse to dense, comes out right: predicted
    and simulated. `start_at(T, key)` is the log10 σ of each, from which `places` are counted; NaN
    where the σ is above 1 or none."""
    count, draws = config.predicted_graphs, config.predicted_draws
    drawn = list(zip(np.linspace(0.2, 0.45, count), jr.split(jr.key(seed), count), strict=True))
    graphs = [nested_pairs(N, float(f), key=k, diagonal=False) for f, k in drawn]
    keys = [k for _, k in drawn]
    first = np.array([start_at(T, k) for T, k in zip(graphs, keys, strict=True)])
    scales = first[:, None] + np.asarray(places)
    predicted, seen = np.full((2, *scales.shape), np.nan)
    for j in range(len(places)):
        tried = np.flatnonzero(np.isfinite(scales[:, j]) & (scales[:, j] <= 0.0))
        if not tried.size:
            continue
        each = np.repeat(scales[tried, j], draws)
        start = toy_start(N, log10_scale=each, draws=each.size, key=jr.key(seed + 1))
        loss = toy_flow(start, np.repeat(np.stack(graphs)[tried], draws, axis=0)).test_loss
        seen[tried, j] = (loss < RIGHT).reshape(-1, draws).mean(1)
        for i in tried:
            options = {"log10_scale": float(scales[i, j]), "draws": GUESSES, "key": keys[i]}
            predicted[i, j] = success_probability(graphs[i], **options)
    columns: dict[str, Any] = {"predicted": (("graph", axis), predicted)}
    columns |= {"seen": (("graph", axis), seen), "largest_log10_scale": ("graph", first)}
    return xr.Dataset(columns, {axis: list(places)}, {"wanted": WANTED})


def predicted_success(config: Config, seed: int) -> xr.Dataset:
    """The predicted chance of success against simulation: nothing was fitted, so that every graph
    is unseen."""
    scales = config.predicted_log_scales
    found = _predictions(config, seed + 70_004, "log10_scale", scales, lambda T, key: 0.0)
    return found.drop_vars("largest_log10_scale")


def predicted_scales(config: Config, seed: int) -> xr.Dataset:
    """The largest σ predicted to succeed nine times in ten, tried there and above."""
    largest = lambda T, key: largest_scale(T, wanted=WANTED, draws=GUESSES, key=key)
    return _predictions(config, seed + 70_006, "decades_above", LARGER, largest)
