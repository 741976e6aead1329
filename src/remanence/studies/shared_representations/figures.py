"""The pictures of the study; each is drawn from its dataset alone."""

from collections.abc import Mapping

import xarray as xr

from ...report import Figure
from .graph_figures import accuracy_figure, figure_one_figure
from .threshold_figures import threshold_figure, wide_threshold_figure
from .toy_figures import (
    alignment_figure,
    race_figure,
    random_figure,
    walls_figure,
)


def figures(data: Mapping[str, xr.Dataset]) -> tuple[Figure, ...]:
    """All pictures, in the order of the experiments."""
    return (
        figure_one_figure(data["diagonal"], data["full"]),
        accuracy_figure(data["diagonal"], data["full"]),
        threshold_figure(data["graphs"], data["wide"]),
        wide_threshold_figure(data["wide"]),
        alignment_figure(data["alignment"], data["clocks"]),
        walls_figure(data["walls"], data["predictor"], data["foretold_scales"]),
        random_figure(data["random"]),
        race_figure(data["race"]),
    )
