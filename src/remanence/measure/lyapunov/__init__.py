"""Lyapunov exponents and vectors of any cell, with their errors."""

from .covariant import covariant_vectors as covariant_vectors, CovariantVectors as CovariantVectors
from .finite_time import (
    exponents_along as exponents_along,
    exponents_of_each as exponents_of_each,
    growth_along as growth_along,
)
from .record import LayerDecays as LayerDecays, Spectrum as Spectrum
from .spectrum import lyapunov_spectrum as lyapunov_spectrum
