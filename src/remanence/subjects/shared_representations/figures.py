"""The pictures of the study; each is drawn from its dataset alone."""

from collections.abc import Mapping

import xarray as xr

from ...report import Figure
from .figure_one import samples_of_the_grid
from .mask_figures import accuracy_figure, figure_one_figure
from .spike_figures import spikes_figure
from .threshold_figures import threshold_figure, wide_threshold_figure
from .toy_figures import alignment_figure, race_figure, random_figure, walls_figure


def figures(data: Mapping[str, xr.Dataset]) -> tuple[Figure, ...]:
    """All pictures, in the order of the experiments."""
    spikes = [spikes_figure(data["spikes"])] if "spikes" in data else []
    return (
        figure_one_figure(data["diagonal"], data["full"], samples_of_the_grid(data)),
        accuracy_figure(data["diagonal"], data["full"]),
        *spikes,
        threshold_figure(data["graphs"], data["wide"]),
        wide_threshold_figure(data["wide"]),
        alignment_figure(data["alignment"], data["clocks"]),
        walls_figure(data["walls"], data["predictor"], data["foretold_scales"]),
        random_figure(data["random"]),
        race_figure(data["race"]),
    )
