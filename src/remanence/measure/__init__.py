"""Weights understood."""

from .capacity import memory_capacity, MemoryCapacity
from .contraction import Contraction, contraction, StackProof, worst_pair_rate
from .fixed_points import fixed_points, FixedPoint
from .fourier import (
    frequency_plane,
    key_frequencies,
    KeyFrequencies,
    spectrum,
    spectrum_2d,
    without_frequencies,
)
from .gradients import gradient_decay, GradientDecay, Plateau
from .horizon import memory_horizon, MemoryHorizon
from .low_rank import LowRank, smallest_rank
from .lyapunov import exponents_along, growth_along, lyapunov_spectrum, Spectrum
from .replay import replay_window, ReplayWindow, TokenReplay, WindowCost
from .truncation import (
    gradient_bound,
    truncation_bound,
    truncation_error,
    truncation_window,
    TruncationError,
)
