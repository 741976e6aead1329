"""How well the toy aligns with the top mode of T, over σ, and when."""

import jax.random as jr
import numpy as np
import xarray as xr
from jaxtyping import Float

from .config import Config
from .connectivity import connectivity
from .language_pairs import circulant_pairs
from .sign_barriers import needed_scale
from .toy_model import toy_flow, toy_start


N = 10
ONE_PERCENT = 0.01
# At 1e-6 the flow overshoots half loss by so much that contamination scatters by a fifth.
PRECISE = {"rtol": 1e-10, "attempts": 20_000}


def u_at_half_loss(
    width: int, log10_scale: float, *, draws: int, seed: int
) -> Float[np.ndarray, "draws n"]:
    """The vectors u of a circulant's draws when half the loss is gone."""
    T = circulant_pairs(N, width)
    start = toy_start(N, log10_scale=log10_scale, draws=draws, key=jr.key(seed))
    return toy_flow(start, T, stop=0.25 * T.sum(), **PRECISE).u


def log_second_mode(u: Float[np.ndarray, "draws n"], width: int) -> Float[np.ndarray, " draws"]:
    """Log of the part of `u` in the space of σ2, over its part in the top mode."""
    U, S, _ = np.linalg.svd(circulant_pairs(N, width))
    second = U[:, 1:][:, np.isclose(S[1:], S[1])]
    return np.log(np.linalg.norm(u @ second, axis=1) / np.abs(u @ U[:, 0]))


def log_contamination(u: Float[np.ndarray, "draws n"]) -> Float[np.ndarray, " draws"]:
    r"""Log of $\|u - (u\cdot u_*)u_*\| / |u\cdot u_*|$; a circulant's $u_*$ is constant."""
    mean = u.mean(axis=-1, keepdims=True)
    rest = np.linalg.norm(u - mean, axis=-1)
    return np.log(rest / (np.abs(mean[..., 0]) * u.shape[-1] ** 0.5))


def slopes(
    x: Float[np.ndarray, " points"], y: Float[np.ndarray, "points draws"]
) -> Float[np.ndarray, " draws"]:
    """The least-squares slope of each draw over `x`: draws are paired along σ."""
    away = x - x.mean()
    return away @ y / (away @ away)


def alignment(config: Config, seed: int) -> xr.Dataset:
    r"""Contamination at half loss over σ and widths, and the exponent of each width.

    A width is measured where the law $\epsilon = \sigma^{1-\sigma_2/\sigma_1}$ itself
    predicts the contaminations of the profile, so that none is down to rounding. The
    exponent is that of the second mode; where the third is close behind, the sum falls
    faster for a long while. The σ for 1 % in all follows from the law and the first
    point; what is really left there is measured from draws of its own.
    """
    rows = [_of_width(width, config, seed) for width in config.toy_widths]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return xr.Dataset(
        {name: (("width", "predicted")[: values.ndim], values) for name, values in columns.items()},
        {"width": list(config.toy_widths), "predicted": list(config.toy_contaminations)},
    )


def _of_width(width: int, config: Config, seed: int) -> dict[str, np.ndarray]:
    T, draws = circulant_pairs(N, width), config.aligned_draws
    scales = np.array([needed_scale(T, left) for left in config.toy_contaminations])
    ends = [u_at_half_loss(width, x, draws=draws, seed=seed) for x in scales.tolist()]
    second = np.stack([log_second_mode(u, width) for u in ends])
    everything = np.stack([log_contamination(u) for u in ends])
    exponent = slopes(scales * np.log(10), second)
    constant = float(np.exp(everything[0].mean())) / config.toy_contaminations[0]
    needed = needed_scale(T, ONE_PERCENT, constant=constant)
    there = log_contamination(u_at_half_loss(width, needed, draws=draws, seed=seed + 4))
    error = lambda values: values.std(axis=-1, ddof=1) / draws**0.5
    return {
        "log10_scale": scales,
        "second_mode": np.exp(second.mean(axis=1)),
        "second_mode_log_stderr": error(second),
        "contamination": np.exp(everything.mean(axis=1)),
        "exponent": exponent.mean(),
        "exponent_stderr": error(exponent),
        "law": np.array(1.0 - connectivity(T).gap),
        "needed_log10_scale": np.array(needed),
        "found_there": np.exp(there.mean()),
        "found_log_stderr": error(there),
    }


def times_to_half_loss(config: Config, seed: int) -> xr.Dataset:
    """When half the loss is gone: two factors and three, over σ."""
    T = circulant_pairs(N, 5)

    def median_time(factors: int, log10_scale: float) -> float:
        draws = {"draws": config.toy_draws, "key": jr.key(seed + 1)}
        start = toy_start(N, log10_scale=log10_scale, factors=factors, **draws)
        return float(np.median(toy_flow(start, T, stop=0.25 * T.sum()).time))

    scales = list(config.toy_log_scales)
    time = [[median_time(factors, x) for x in scales] for factors in (2, 3)]
    return xr.Dataset(
        {"time": (("factors", "log10_scale"), np.array(time))},
        {"factors": [2, 3], "log10_scale": scales},
        {"unit": "t for two factors, t times sigma for three"},
    )
