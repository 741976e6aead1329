"""The spikes of Figure 1, trained again two other ways."""

import numpy as np
import xarray as xr
from jaxtyping import Int

from ...report import Bench
from .config import Config
from .figure_one import lane_width
from .training_cells import Cell, document_stop, GENERALISES, table, Way


KEPT = ("train_loss", "drift", "ending", "signs")
"""What is kept of each other way beside its test loss."""


def highest_spikes(config: Config, diagonal: xr.Dataset) -> Int[np.ndarray, " spikes"]:
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


def spike_limits(config: Config) -> dict[Way, int]:
    """The other ways that the profile takes, with the steps it gives them."""
    limits: dict[Way, int] = {
        "descent": config.spike_descent,
        "flow": config.spike_flow,
    }
    return {way: limit for way, limit in limits.items() if limit > 0}


def retrained_spikes(
    config: Config, diagonal: xr.Dataset, bench: Bench
) -> xr.Dataset | None:
    """The highest spikes by descent with a safe step, and by the flow if it is followed.

    A spike that one of them does not have came from the step; one that they have too
    is real.
    """
    first = diagonal.isel(cell=highest_spikes(config, diagonal))
    if first.sizes["cell"] == 0:
        return None
    columns = {name: first[name] for name in ("fraction", "scale", "seed")}
    columns |= {"sgd": first.test_loss, "sgd_signs": first.signs}
    for way, limit in spike_limits(config).items():
        cells = [
            Cell(
                fraction=float(first.fraction[i]),
                scale=float(first.scale[i]),
                seed=int(first.seed[i]),
                mask="diagonal",
                way=way,
                languages=config.languages,
                words=config.words,
                units=config.units,
            )
            for i in range(first.sizes["cell"])
        ]
        found = table(
            f"spikes by {way}",
            cells,
            bench,
            stop=document_stop(config.words),
            limit=limit,
            width=lane_width(config),
        )
        columns |= {way: found.test_loss}
        columns |= {f"{way}_{name}": found[name] for name in KEPT}
    return xr.Dataset(columns)
