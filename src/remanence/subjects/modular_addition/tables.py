"""The study's labelled numbers: histories, spectra, margins."""

import numpy as np
import xarray as xr

from ...measure.fourier import signed_axis
from .dissection import Dissection, NODES
from .exact_adder import adder, spread_frequencies
from .fit_modular import ModularFit
from .task import Modular


def margins_over_frequencies(task: Modular) -> xr.Dataset:
    """The written adder's margin against its number of frequencies, with and without doubles."""
    most = min(12, task.period // 2)
    counts = np.arange(1, most + 1)
    margin = np.full((2, most), np.nan)
    for i, doubled in enumerate((True, False)):
        for j, count in enumerate(counts):
            try:
                built = adder(
                    task.modulus, spread_frequencies(task.period, int(count)), doubled=doubled
                )
            except ValueError:
                continue  # too few frequencies: no margin to draw
            margin[i, j] = built.margin
    return xr.Dataset(
        {"margin": (("waves", "frequencies"), margin)},
        coords={"waves": ["doubled", "single"], "frequencies": counts},
    )


def histories_by_seed(fits: list[ModularFit], seeds: tuple[int, ...]) -> xr.Dataset:
    """The course of every training."""
    each = [fit.history for fit in fits]
    return xr.concat(each, dim="seed", join="exact").assign_coords(seed=list(seeds))


def spectra_by_seed(found: list[Dissection], seeds: tuple[int, ...]) -> xr.Dataset:
    """Energy by node and frequency; the planes are those of the first seed."""
    energy = np.array([[d.energies[n] for n in NODES] for d in found])
    planes = np.array([[d.planes[n] for n in ("h2", "h3")] for d in found[:1]])
    return xr.Dataset(
        {
            "energy": (("seed", "node", "frequency"), energy),
            "plane": (("state", "frequency", "signed"), planes[0]),
        },
        coords={
            "seed": list(seeds),
            "node": list(NODES),
            "state": ["h2", "h3"],
            "signed": signed_axis(found[0].task.period),
        },
    )
