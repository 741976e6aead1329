"""Everything that a run of this study depends on."""

import dataclasses
from typing import Literal


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Sizes and grids; the fields are named after the experiments they serve."""

    languages: int = 10
    words: int
    units: int
    fractions: tuple[float, ...]
    scales: tuple[float, ...]
    seeds: tuple[int, ...]
    full_scales: tuple[float, ...]
    full_way: Literal["descent", "flow"]
    """How the full mask is trained: the flow costs a longer compilation."""
    full_limits: tuple[int, ...]
    """At each scale at most so many gradients of descent, or attempted steps of the flow.

    The flow's time grows as one over the scale.
    """
    sgd_limit: int
    sample_scales: tuple[float, ...]
    """At these σ the author's own cells are redone, at his sizes, if their file is there."""
    spikes: int
    """At each of `spike_scales` at most so many spikes are tried again."""
    spike_scales: tuple[float, ...]
    """Falling; at larger scales most connected runs lie high, so none of them is a spike."""
    spike_descent: int
    """At most so many gradients of safe descent on a spike."""
    spike_flow: int
    """At most so many attempted steps of the flow on a spike; none if 0."""

    graphs: int
    graph_limit: int
    graph_words: int
    graph_scales: tuple[float, ...]
    wide_factor: int
    wide_limit: int
    """Attempted steps for H > D, where a wall is a plateau that patience passes."""
    wide_graphs: int
    wide_blocks: int
    """So many times `wide_graphs` over the same fractions, each with seeds of its own."""
    wide_scales: tuple[float, ...]
    single_words: int
    single_graphs: int
    single_scales: tuple[float, ...]
    path_graphs: int
    path_stops: tuple[float, ...]

    toy_widths: tuple[int, ...]
    toy_draws: int
    aligned_draws: int
    toy_log_scales: tuple[float, ...]
    toy_contaminations: tuple[float, ...]
    """The exponent of σ is measured where its law foretells these, width by width."""
    wall_width: int
    wall_draws: int
    wall_log_scales: tuple[float, ...]
    predicted_graphs: int
    predicted_draws: int
    predicted_log_scales: tuple[float, ...]

    random_size: int
    race_seeds: int


QUICK = Config(
    words=6,
    units=6,
    fractions=(0.201, 0.251, 0.301, 0.401),
    scales=(1e-1, 1e-2),
    seeds=(0, 1, 2, 3, 4, 5, 6),
    full_scales=(1e-1, 1e-2),
    full_way="descent",
    full_limits=(100_000, 100_000),
    sgd_limit=60_000,
    sample_scales=(1e-3,),
    spikes=6,
    spike_scales=(1e-2,),
    spike_descent=150_000,
    spike_flow=0,
    graphs=48,
    graph_limit=1_000,
    graph_words=3,
    graph_scales=(0.3, 0.03),
    wide_factor=2,
    wide_limit=1_000,
    wide_graphs=48,
    wide_blocks=1,
    wide_scales=(0.3, 0.1, 0.03, 0.01),
    single_words=3,
    single_graphs=8,
    single_scales=(0.3, 0.1, 0.03),
    path_graphs=8,
    path_stops=(1e-3, 1e-6),
    toy_widths=(8, 5, 2),
    toy_draws=32,
    aligned_draws=48,
    toy_log_scales=(-2.0, -4.0, -8.0, -16.0),
    toy_contaminations=(1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8),
    wall_width=2,
    wall_draws=96,
    wall_log_scales=(-1.0, -3.0, -10.0, -20.0, -40.0),
    predicted_graphs=24,
    predicted_draws=8,
    predicted_log_scales=(-1.0, -3.0),
    random_size=200,
    race_seeds=1,
)

FULL = dataclasses.replace(
    QUICK,
    words=32,
    units=32,
    fractions=tuple(round(0.201 + 0.01 * i, 3) for i in range(26)),
    scales=(1e-2, 1e-3, 1e-4),
    seeds=(0, 1, 2),
    full_scales=(1e-2, 1e-3, 1e-4),
    full_way="flow",
    full_limits=(60_000, 60_000, 400_000),
    sgd_limit=500_000,
    sample_scales=(1e-2, 1e-3, 1e-4),
    spikes=25,
    spike_scales=(1e-3, 1e-4),
    spike_descent=1_000_000,
    spike_flow=400_000,
    graphs=450,
    graph_scales=(0.3, 0.03, 0.003),
    graph_limit=8_000,
    graph_words=4,
    wide_graphs=60,
    wide_limit=1_000_000,
    wide_blocks=6,
    wide_scales=(0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003),
    single_words=8,
    single_graphs=24,
    single_scales=(0.3, 0.1, 0.03, 0.01, 0.003),
    path_graphs=40,
    path_stops=(1e-3, 1e-4, 1e-6),
    toy_widths=tuple(range(9, 1, -1)),
    toy_draws=120,
    aligned_draws=400,
    wall_draws=400,
    predicted_graphs=60,
    predicted_draws=16,
    predicted_log_scales=(-1.0, -3.0, -10.0),
    random_size=400,
    race_seeds=2,
)
