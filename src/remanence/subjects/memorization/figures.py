"""The figures of the study, in order."""

import xarray as xr

from ...report import Figure
from .config import Config
from .cost_figures import atlas_figure, frontier_figure, stability_figure
from .frontier import Point
from .learned_figures import eigenvalue_figure, learned_figure, Readings
from .walk_figures import orbit_figure, polygon_figure


POLYGONS = ("00000111", "abracadabra", "0001", "hello world")


def figures(
    config: Config,
    atlas: xr.Dataset,
    least: xr.Dataset,
    points: list[Point],
    learned: xr.Dataset,
    read: Readings,
) -> tuple[Figure, ...]:
    """Everything that is drawn."""
    return (
        polygon_figure(POLYGONS),
        orbit_figure("00010110111"),
        frontier_figure(config, points),
        atlas_figure(atlas),
        stability_figure(least),
        learned_figure(config, learned),
        eigenvalue_figure(read),
    )
