"""Lyapunov exponents of any cell, with their errors."""

from .finite_time import exponents_along as exponents_along, growth_along as growth_along
from .record import LayerDecays as LayerDecays, Spectrum as Spectrum
from .spectrum import lyapunov_spectrum as lyapunov_spectrum
