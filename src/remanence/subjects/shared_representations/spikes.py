"""Experiment 4: the spikes of Figure 1, trained again two other ways."""

import numpy as np
import xarray as xr
from jaxtyping import Int

from ...report import Bench
from .cells import Cell, document_stop, table, Way
from .config import Config
from .figure_one import GENERALISES, lane_width


def chosen_spikes(config: Config, diagonal: xr.Dataset) -> Int[np.ndarray, " spikes"]:
    """At each σ the tallest connected, converged cells that do not generalise.

    Only σ at which most connected runs generalise have spikes: at σ = 1e-2 the
    document's runs lie above 1e-3 on most connected graphs and come down slowly with
    the fraction, which is no spike but the rule there.
    """
    high = (
        (diagonal.connected == 1)
        & (diagonal.ending == 0)
        & (diagonal.test_loss > GENERALISES)
    ).values
    falling = np.argsort(-diagonal.test_loss.values, kind="stable")
    return np.concatenate(
        [
            falling[(high & (diagonal.scale.values == scale))[falling]][: config.spikes]
            for scale in config.spike_scales
        ]
    )


def spikes(config: Config, diagonal: xr.Dataset, bench: Bench) -> xr.Dataset | None:
    """The chosen spikes by descent with a safe step, and by the flow if it is followed.

    A spike that one of them does not have came from the step; one that they have too
    is real.
    """
    first = diagonal.isel(cell=chosen_spikes(config, diagonal))
    if first.sizes["cell"] == 0:
        return None
    columns = {name: first[name] for name in ("fraction", "scale", "seed")}
    columns |= {
        "sgd": first.test_loss,
        "sgd_drift": first.drift,
        "sgd_signs": first.signs,
    }
    for way, limit in spike_limits(config).items():
        found = table(
            f"spikes by {way}",
            _cells(config, first, way),
            bench,
            stop=document_stop(config.words),
            limit=limit,
            width=lane_width(config),
        )
        columns |= {
            way: found.test_loss,
            f"{way}_train_loss": found.train_loss,
            f"{way}_drift": found.drift,
            f"{way}_ending": found.ending,
            f"{way}_signs": found.signs,
        }
    return xr.Dataset(columns)


def spike_limits(config: Config) -> dict[Way, int]:
    """The other ways that the profile takes, with the steps it gives them."""
    limits: dict[Way, int] = {
        "descent": config.spike_descent,
        "flow": config.spike_flow,
    }
    return {way: limit for way, limit in limits.items() if limit > 0}


def _cells(config: Config, first: xr.Dataset, way: Way) -> list[Cell]:
    return [
        Cell(
            fraction=float(fraction),
            scale=float(scale),
            seed=int(seed),
            mask="diagonal",
            way=way,
            languages=config.languages,
            words=config.words,
            units=config.units,
        )
        for fraction, scale, seed in zip(
            first.fraction.values, first.scale.values, first.seed.values, strict=True
        )
    ]
