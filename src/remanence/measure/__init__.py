"""Weights understood."""

from .capacity import memory_capacity as memory_capacity, MemoryCapacity as MemoryCapacity
from .contraction import (
    Contraction as Contraction,
    contraction as contraction,
    StackProof as StackProof,
    worst_pair_rate as worst_pair_rate,
)
from .fixed_points import fixed_points as fixed_points, FixedPoint as FixedPoint
from .fourier import (
    frequency_plane as frequency_plane,
    key_frequencies as key_frequencies,
    KeyFrequencies as KeyFrequencies,
    spectrum as spectrum,
    spectrum_2d as spectrum_2d,
    without_frequencies as without_frequencies,
)
from .gradients import (
    gradient_decay as gradient_decay,
    GradientDecay as GradientDecay,
    Plateau as Plateau,
)
from .horizon import memory_horizon as memory_horizon, MemoryHorizon as MemoryHorizon
from .low_rank import LowRank as LowRank, smallest_rank as smallest_rank
from .lyapunov import (
    exponents_along as exponents_along,
    growth_along as growth_along,
    lyapunov_spectrum as lyapunov_spectrum,
    Spectrum as Spectrum,
)
from .replay import (
    replay_window as replay_window,
    ReplayWindow as ReplayWindow,
    TokenReplay as TokenReplay,
    WindowCost as WindowCost,
)
from .truncation import (
    gradient_bound as gradient_bound,
    truncation_bound as truncation_bound,
    truncation_error as truncation_error,
    truncation_window as truncation_window,
    TruncationError as TruncationError,
)
