"""Everything that a run of this study depends on."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Config:
    """Sizes and grids, named after the experiments they serve; the defaults are quick."""

    languages: int = 10
    words: int = 6
    units: int = 6
    fractions: tuple[float, ...] = (0.201, 0.251, 0.301, 0.401)
    scales: tuple[float, ...] = (1e-1, 1e-2)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)
    full_scales: tuple[float, ...] = (1e-1, 1e-2)
    full_limits: tuple[int, ...] = (10_000, 10_000)  # attempted steps at each scale
    sgd_limit: int = 60_000
    author_scales: tuple[float, ...] = (1e-3,)  # at which the author's own cells are redone
    spikes: int = 6  # at each of `spike_scales` at most so many spikes are tried again
    spike_scales: tuple[float, ...] = (1e-2,)  # falling, from where most connected runs lie low
    spike_limit: int = 10_000  # at most so many attempted steps of the flow on a spike

    graphs: int = 48
    graph_limit: int = 1_000
    graph_words: int = 3
    graph_scales: tuple[float, ...] = (0.3, 0.03)
    wide_graphs: int = 48
    wide_blocks: int = 1  # so many times `wide_graphs`, each with seeds of its own
    wide_limit: int = 1_000  # attempted steps; with H > D a barrier is a plateau that they pass
    wide_scales: tuple[float, ...] = (0.3, 0.1, 0.03, 0.01)

    toy_widths: tuple[int, ...] = (8, 5, 2)
    toy_draws: int = 32
    aligned_draws: int = 48
    toy_log_scales: tuple[float, ...] = (-2.0, -4.0, -8.0, -16.0)
    # The exponent of σ is measured where its law predicts these, width by width.
    toy_contaminations: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
    barrier_draws: int = 96
    barrier_log_scales: tuple[float, ...] = (-1.0, -3.0, -10.0, -20.0, -40.0)
    predicted_graphs: int = 24
    predicted_draws: int = 8
    predicted_log_scales: tuple[float, ...] = (-1.0, -3.0)

    random_size: int = 200
    race_seeds: int = 1


QUICK = Config()
FULL = Config(
    words=32,
    units=32,
    fractions=tuple(round(0.201 + 0.01 * i, 3) for i in range(26)),
    scales=(1e-2, 1e-3, 1e-4),
    seeds=(0, 1, 2),
    full_scales=(1e-2, 1e-3, 1e-4),
    full_limits=(60_000, 60_000, 400_000),
    sgd_limit=500_000,
    author_scales=(1e-2, 1e-3, 1e-4),
    spikes=25,
    spike_scales=(1e-3, 1e-4),
    spike_limit=400_000,
    graphs=450,
    graph_scales=(0.3, 0.03, 0.003),
    graph_limit=8_000,
    graph_words=4,
    wide_graphs=60,
    wide_limit=1_000_000,
    wide_blocks=6,
    wide_scales=(0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003),
    toy_widths=tuple(range(9, 1, -1)),
    toy_draws=120,
    aligned_draws=400,
    barrier_draws=400,
    predicted_graphs=60,
    predicted_draws=16,
    predicted_log_scales=(-1.0, -3.0, -10.0),
    random_size=400,
    race_seeds=2,
)
