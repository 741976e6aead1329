"""How gradients fade over lags."""

from .decay import gradient_decay as gradient_decay
from .record import GradientDecay as GradientDecay, Plateau as Plateau
