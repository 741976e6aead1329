"""Experiments 4b, 5 and 7: the toy, its predictor, and the race."""

import jax.random as jr
import numpy as np
import xarray as xr

from ...measure.alignment import contamination
from ...measure.connectivity import connectivity
from ...measure.walls import needed_scale, success_probability, wall_probability
from ...tasks.language_pairs import circulant_pairs, nested_pairs
from ...train.race import race_reduction, race_simulation
from ...train.toy import toy_flow, toy_start
from .config import Config


N = 10
STRENGTHS = np.array([13.60, 6.40, 3.0, 3.0])
DOMAINS, TAUGHT = 7, 4


def alignment(config: Config, seed: int) -> xr.Dataset:
    r"""Contamination at half loss over σ and widths, and the fitted exponents.

    The top singular vector of a circulant is constant; contamination is geometric
    over draws, so its logarithm is averaged.
    """
    shape = (len(config.toy_widths), len(config.toy_log_scales))
    left, spread = np.zeros(shape), np.zeros(shape)
    exponents, laws = np.zeros(shape[0]), np.zeros(shape[0])
    for i, width in enumerate(config.toy_widths):
        T = circulant_pairs(N, width)
        for j, log10_scale in enumerate(config.toy_log_scales):
            start = toy_start(
                N, log10_scale=log10_scale, draws=config.toy_draws, key=jr.key(seed)
            )
            fit = toy_flow(start, T, log10_scale=log10_scale, stop=0.25 * T.sum())
            rest = np.log(contamination(fit.u, np.full(N, N**-0.5)))
            left[i, j] = np.median(rest)
            spread[i, j] = rest.std(ddof=1) / rest.size**0.5
        # The smallest scales are farthest into the law.
        x = np.array(config.toy_log_scales) * np.log(10)
        half = slice(len(x) // 2, None)
        exponents[i] = np.polyfit(x[half], left[i, half], 1)[0]
        laws[i] = 1.0 - connectivity(T).gap
    constant = np.exp(
        left[:, -1] - laws * np.array(config.toy_log_scales)[-1] * np.log(10)
    )
    needed = [
        needed_scale(circulant_pairs(N, w), 0.01, constant=float(c))
        for w, c in zip(config.toy_widths, constant, strict=True)
    ]
    return xr.Dataset(
        {
            "contamination": (("width", "log10_scale"), np.exp(left)),
            "log_stderr": (("width", "log10_scale"), spread),
            "exponent": ("width", exponents),
            "law": ("width", laws),
            "needed_log10_scale": ("width", np.array(needed)),
        },
        {"width": list(config.toy_widths), "log10_scale": list(config.toy_log_scales)},
    )


def clocks(config: Config, seed: int) -> xr.Dataset:
    """When half the loss is gone: two factors and three, over σ."""
    T = circulant_pairs(N, 5)
    time = np.zeros((2, len(config.toy_log_scales)))
    for i, factors in enumerate((2, 3)):
        for j, log10_scale in enumerate(config.toy_log_scales):
            start = toy_start(
                N,
                log10_scale=log10_scale,
                draws=config.toy_draws,
                key=jr.key(seed + 1),
                factors=factors,
            )
            fit = toy_flow(
                start,
                T,
                log10_scale=log10_scale,
                stop=0.25 * T.sum(),
                factors=factors,
            )
            time[i, j] = np.median(fit.time)
    return xr.Dataset(
        {"time": (("factors", "log10_scale"), time)},
        {"factors": [2, 3], "log10_scale": list(config.toy_log_scales)},
        {"unit": "t for two factors, t times sigma for three"},
    )


def walls(config: Config, seed: int) -> xr.Dataset:
    """Success of a narrow circulant over σ, with what the linear phase foretells."""
    T = circulant_pairs(N, config.wall_width)
    rows = []
    for log10_scale in config.wall_log_scales:
        start = toy_start(
            N, log10_scale=log10_scale, draws=config.toy_draws, key=jr.key(seed + 2)
        )
        fit = toy_flow(start, T, log10_scale=log10_scale)
        stuck = fit.loss[fit.wall]
        rows.append(
            (
                float((fit.test_loss < 1e-3).mean()),
                float(fit.wall.mean()),
                1.0
                - wall_probability(T, log10_scale=log10_scale, key=jr.key(seed + 3)),
                float(np.median(stuck)) if stuck.size else np.nan,
            )
        )
    names = ("success", "wall", "foretold", "wall_loss")
    return xr.Dataset(
        {
            n: ("log10_scale", np.array(c))
            for n, c in zip(names, zip(*rows, strict=True), strict=True)
        },
        {"log10_scale": list(config.wall_log_scales)},
    )


def predictor(config: Config, seed: int) -> xr.Dataset:
    """The predictor's chance of success against simulation, on graphs it never saw.

    Nothing in it was fitted, so every graph is unseen: a connected one generalises
    unless its signs meet a wall, a disconnected one besides only by luck of signs.
    """
    keys = jr.split(jr.key(seed + 70_004), config.predicted_graphs)
    fractions = np.linspace(0.2, 0.45, config.predicted_graphs)
    Ts = [
        nested_pairs(N, float(f), key=k, diagonal=False)
        for f, k in zip(fractions, keys, strict=True)
    ]
    foretold = np.zeros((len(Ts), len(config.predicted_log_scales)))
    seen = np.zeros_like(foretold)
    for j, log10_scale in enumerate(config.predicted_log_scales):
        draws = config.predicted_draws
        start = toy_start(
            N, log10_scale=log10_scale, draws=draws * len(Ts), key=jr.key(seed + 70_005)
        )
        fit = toy_flow(
            start,
            np.repeat(np.stack(Ts), draws, axis=0),
            log10_scale=log10_scale,
        )
        seen[:, j] = (fit.test_loss < 1e-3).reshape(len(Ts), draws).mean(1)
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
