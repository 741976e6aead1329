"""The pictures of the study; each is drawn from its dataset alone."""

from collections.abc import Mapping

import xarray as xr

from ....report import Figure
from .both_masks import accuracy_figure, figure_one_figure, spikes_figure
from .thresholds import threshold_figure, wide_threshold_figure
from .toy_and_race import alignment_figure, barriers_figure, race_figure, random_figure


def figures(data: Mapping[str, xr.Dataset]) -> tuple[Figure, ...]:
    """All pictures, in the order of the experiments."""
    spikes = [spikes_figure(data["spikes"])] if "spikes" in data else []
    return (
        figure_one_figure(data["diagonal"], data["full"], data.get("author")),
        accuracy_figure(data["diagonal"], data["full"]),
        *spikes,
        threshold_figure(data["graphs"], data["wide"]),
        wide_threshold_figure(data["wide"]),
        alignment_figure(data["alignment"], data["times"]),
        barriers_figure(data["barriers"], data["predictor"], data["predicted_scales"]),
        random_figure(data["random"]),
        race_figure(data["race"]),
    )
