"""Lyapunov exponents of any cell, with their errors."""

from .record import LayerDecays as LayerDecays, Spectrum as Spectrum
from .spectrum import (
    exponents_along as exponents_along,
    growth_along as growth_along,
    lyapunov_spectrum as lyapunov_spectrum,
)
