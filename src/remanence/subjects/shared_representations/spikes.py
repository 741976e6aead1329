"""The spikes of Figure 1, trained again two other ways."""

import numpy as np
import xarray as xr
from jaxtyping import Int

from ...report import Bench
from .config import Config
from .figure_one import figure_cell, lane_width
from .training_cells import document_stop, GENERALISES, table, Way


KEPT = ("train_loss", "drift", "ending", "signs")
"""What is kept of each other way beside its test loss."""


def highest_spikes(config: Config, diagonal: xr.Dataset) -> Int[np.ndarray, " spikes"]:
    """At each σ the tallest connected, converged cells that do not generalise.

    Only σ at which most connected runs generalise have spikes: at σ = 1e-2 the
    document's runs lie above 1e-3 on most connected graphs and come down slowly with
    the fraction, which is no spike but the rule there.
    """
    high = (
        (diagonal.connected == 1) & (diagonal.ending == 0) & (diagonal.test_loss > GENERALISES)
    ).values
    falling = np.argsort(-diagonal.test_loss.values, kind="stable")
    return np.concatenate(
        [
            falling[(high & (diagonal.scale.values == scale))[falling]][: config.spikes]
            for scale in config.spike_scales
        ]
    )


def retrained_spikes(config: Config, diagonal: xr.Dataset, bench: Bench) -> xr.Dataset | None:
    """The highest spikes by descent with a safe step, and by the flow if it is followed.

    A spike that one of them does not have came from the step; one that they have too
    is real.
    """
    first = diagonal.isel(cell=highest_spikes(config, diagonal))
    if first.sizes["cell"] == 0:
        return None
    columns = {name: first[name] for name in ("fraction", "scale", "seed")}
    columns |= {"sgd": first.test_loss, "sgd_signs": first.signs}
    limits: dict[Way, int] = {"descent": config.spike_descent, "flow": config.spike_flow}
    names = [first[name].values.tolist() for name in ("fraction", "scale", "seed")]
    for way, limit in limits.items():
        if limit == 0:
            continue
        cells = [
            figure_cell(config, fraction, scale, int(seed), mask="diagonal", way=way)
            for fraction, scale, seed in zip(*names, strict=True)
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
